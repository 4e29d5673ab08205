#include "heed/inspect/attention/attention_input.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/generate/cached_decoder.h"
#include "heed/generate/search.h"
#include "heed/text/utf8.h"

namespace heed::inspect {
namespace {

constexpr std::string_view kSpace = "\u2581";

void require_text(const text::TranslationTokenizer& tokenizer, std::span<const int32_t> tokens,
                  const char* side) {
  require_input(!std::ranges::all_of(tokens, [&](int32_t t) { return tokenizer.is_special(t); }),
                "the {} text is empty", side);
}

/// The decoded text of a byte-level piece, with U+2581 for a space. Pieces with a word marker
/// ("##", U+2581), special tokens and incomplete characters are shown as they are.
std::string display_text(const text::Tokenizer& tokenizer, int32_t id) {
  const std::string& piece = tokenizer.piece(id);
  if (tokenizer.is_special(id) || piece.starts_with("##") ||
      piece.find(kSpace) != std::string::npos)
    return piece;
  std::string text = tokenizer.decode(std::span(&id, 1), false);
  if (text.empty() || text.find("\uFFFD") != std::string::npos) return piece;
  if (text.front() == ' ') text.replace(0, 1, kSpace);
  return text;
}

template <typename PieceOf>
StackInput stack_input(const std::string& text, std::vector<int32_t> ids, const PieceOf& piece_of) {
  StackInput result{text, std::move(ids), {}};
  for (const int32_t id : result.ids) result.pieces.push_back(piece_of(id));
  return result;
}

/// The decoder's first tokens followed by `target`, which must not end with end of sequence.
std::vector<int32_t> decoder_input(std::vector<int32_t> prompt, std::span<const int32_t> target) {
  prompt.insert(prompt.end(), target.begin(), target.end());
  return prompt;
}

/// The greedy output, as far as the decoder reads it: not the last token of one that fills the
/// context.
std::vector<int32_t> greedy(const model::Transformer& model, const std::vector<int32_t>& source,
                            const std::vector<int32_t>& prompt, const generate::TokenRules& rules,
                            DType dtype) {
  const model::ModelConfig& config = model.config();
  generate::SearchBatch batch;
  batch.inputs = {generate::translation_input(config, {}, source, prompt)};
  batch.rules = rules;
  batch.memory_dtype = generate::default_cache_dtype(model, dtype);
  if (rules.eos_ids.empty()) batch.rules.eos_ids = config.eos_ids();
  std::vector<int32_t> tokens =
      generate::search(model, dtype, batch, {}).front().front().hypothesis.tokens;
  if (config.positions != model::PositionKind::none &&
      std::ssize(prompt) + std::ssize(tokens) > config.max_positions)
    tokens.pop_back();
  return tokens;
}

}  // namespace

ModelInput read_input(const model::Transformer& model, const text::TranslationTokenizer& tokenizer,
                      const std::string& source, const std::string& target,
                      const text::LanguagePair& languages, const generate::TokenRules& rules,
                      DType dtype) {
  const auto source_piece = [&](int32_t id) { return tokenizer.source_piece(id); };
  const auto target_piece = [&](int32_t id) { return tokenizer.piece(id); };
  const std::vector<int32_t> prompt =
      tokenizer.start_of_target(languages, rules.start_id(model.config()), rules.forced_bos_id);
  require_input(text::is_valid_utf8(source), "the source text is not valid UTF-8");
  require_input(text::is_valid_utf8(target), "the target text is not valid UTF-8");
  ModelInput input{
      stack_input(source, tokenizer.encode_source(source, languages), source_piece), {}, dtype};
  require_text(tokenizer, input.source.ids, "source");
  if (!target.empty()) {
    std::vector<int32_t> ids = tokenizer.encode_target(target);
    require_text(tokenizer, ids, "target");
    ids.pop_back();  // end of sequence
    input.target = stack_input(target, decoder_input(prompt, ids), target_piece);
    return input;
  }
  const std::vector<int32_t> found = greedy(model, input.source.ids, prompt, rules, dtype);
  input.target =
      stack_input(tokenizer.decode_target(found), decoder_input(prompt, found), target_piece);
  return input;
}

ModelInput read_input(const model::Transformer& model, const text::Tokenizer& tokenizer,
                      const std::string& text, const std::string& target,
                      const generate::TokenRules& rules, DType dtype) {
  const bool both = model.has_encoder() && model.has_decoder();
  require_input(both || target.empty(),
                "a target was given, but the model is {}, expected an encoder-decoder",
                model.has_encoder() ? "encoder-only" : "decoder-only");
  const auto piece = [&](int32_t id) { return display_text(tokenizer, id); };
  std::vector<int32_t> prompt{rules.start_id(model.config())};
  if (rules.forced_bos_id >= 0) prompt.push_back(rules.forced_bos_id);
  const StackInput read = stack_input(text, tokenizer.encode(text), piece);
  require_input(!read.ids.empty(), "the text is empty");
  if (!both) return {read, read, dtype};
  const std::vector<int32_t> ids = target.empty() ? greedy(model, read.ids, prompt, rules, dtype)
                                                  : tokenizer.encode(target, false);
  const std::string written = target.empty() ? tokenizer.decode(ids) : target;
  return {read, stack_input(written, decoder_input(prompt, ids), piece), dtype};
}

ModelInput read_input(const model::Transformer& model, const text::ModelTokenizer& tokenizer,
                      const std::string& text, const std::string& target,
                      const text::LanguagePair& languages, const generate::TokenRules& rules,
                      DType dtype) {
  if (const text::TranslationTokenizer* two = tokenizer.translation_tokenizer())
    return read_input(model, *two, text, target, languages, rules, dtype);
  for (const std::string& code : {languages.source, languages.target})
    require_input(code.empty(), "the language {} was given, but this model does not translate",
                  quoted(code));
  return read_input(model, *tokenizer.shared_tokenizer(), text, target, rules, dtype);
}

}  // namespace heed::inspect
