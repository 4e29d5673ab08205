#include "heed/inspect/capture.h"

#include "heed/base/error.h"
#include "heed/generate/search.h"
#include "heed/text/utf8.h"

namespace heed::inspect {
namespace {

constexpr std::string_view kSpace = "\u2581";

bool wanted(AttentionSite::Kind kind, const CaptureOptions& options) {
  switch (kind) {
    case AttentionSite::Kind::encoder_self:
      return options.encoder_self;
    case AttentionSite::Kind::decoder_self:
      return options.decoder_self;
    case AttentionSite::Kind::cross:
      return options.cross;
  }
  return false;
}

std::vector<int32_t> encode(const text::TranslationTokenizer& tokenizer, const std::string& text,
                            bool source) {
  require(text::is_valid_utf8(text), "the {} text is not valid UTF-8",
          source ? "source" : "target");
  std::vector<int32_t> tokens =
      source ? tokenizer.encode_source(text) : tokenizer.encode_target(text);
  require(tokens.size() > 1, "the {} text is empty", source ? "source" : "target");
  return tokens;
}

std::string display_text(const text::TranslationTokenizer& tokenizer, int32_t id) {
  return tokenizer.piece(id);
}

/// Byte-level pieces are shown as the text that they encode, with U+2581 for a leading space.
/// Special tokens, pieces with their own word-boundary mark and incomplete characters are shown
/// unchanged.
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

template <typename Tokenizer>
Reading reading(const Tokenizer& tokenizer, const std::string& text, std::vector<int32_t> ids) {
  Reading result{text, std::move(ids), {}};
  for (const int32_t id : result.ids) result.pieces.push_back(display_text(tokenizer, id));
  return result;
}

/// The start token followed by `target`, which must not end with end of sequence.
std::vector<int32_t> decoder_input(const model::Transformer& model,
                                   std::span<const int32_t> target) {
  std::vector<int32_t> input{model.config().start_id};
  input.insert(input.end(), target.begin(), target.end());
  return input;
}

std::vector<int32_t> greedy(const model::Transformer& model, const std::vector<int32_t>& source) {
  const std::vector<int32_t> offsets{0, static_cast<int32_t>(source.size())};
  return generate::search(model, DType::f32, {source, offsets}, {}).front().front().tokens;
}

}  // namespace

AttentionCapture capture_attention(const model::Transformer& model, const Reading& source,
                                   const Reading& target, const CaptureOptions& options) {
  AttentionCapture capture;
  Context context;
  context.observe_attention = [&](AttentionSite site, const kernels::AttentionForward& forward) {
    if (wanted(site.kind, options))
      capture.maps.push_back({site.kind, site.layer, kernels::attention_weights(forward, 0)});
  };
  model::Memory memory;
  if (model.has_encoder()) {
    capture.source_text = source.text;
    capture.source_tokens = source.pieces;
    const std::vector<int32_t> offsets{0, static_cast<int32_t>(source.ids.size())};
    memory = model.encode(context, {source.ids, offsets});
  }
  if (model.has_decoder()) {
    capture.target_text = target.text;
    capture.target_tokens = target.pieces;
    const std::vector<int32_t> offsets{0, static_cast<int32_t>(target.ids.size())};
    model.decode_all(context, {target.ids, offsets}, memory);
  }
  return capture;
}

AttentionCapture capture_attention(const model::Transformer& model,
                                   const text::TranslationTokenizer& tokenizer,
                                   const std::string& source, const std::string& target,
                                   const CaptureOptions& options) {
  const Reading read = reading(tokenizer, source, encode(tokenizer, source, true));
  if (!target.empty()) {
    std::vector<int32_t> ids = encode(tokenizer, target, false);
    ids.pop_back();  // end of sequence
    return capture_attention(model, read, reading(tokenizer, target, decoder_input(model, ids)),
                             options);
  }
  const std::vector<int32_t> found = greedy(model, read.ids);
  const Reading own =
      reading(tokenizer, tokenizer.decode_target(found), decoder_input(model, found));
  return capture_attention(model, read, own, options);
}

AttentionCapture capture_attention(const model::Transformer& model,
                                   const text::Tokenizer& tokenizer, const std::string& text,
                                   const std::string& target, const CaptureOptions& options) {
  const bool both = model.has_encoder() && model.has_decoder();
  require(both || target.empty(),
          "a target was given, but the model is {}, expected an encoder-decoder",
          model.has_encoder() ? "encoder-only" : "decoder-only");
  const Reading read = reading(tokenizer, text, tokenizer.encode(text));
  require(!read.ids.empty(), "the text is empty");
  if (!both) return capture_attention(model, read, read, options);
  const std::vector<int32_t> ids =
      target.empty() ? greedy(model, read.ids) : tokenizer.encode(target, false);
  const std::string target_text = target.empty() ? tokenizer.decode(ids) : target;
  return capture_attention(model, read, reading(tokenizer, target_text, decoder_input(model, ids)),
                           options);
}

}  // namespace heed::inspect
