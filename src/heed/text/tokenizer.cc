#include "heed/text/tokenizer.h"

#include <algorithm>
#include <mutex>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/text/piece_spans.h"
#include "heed/text/text_size.h"
#include "heed/text/utf8.h"

namespace heed::text {

struct Tokenizer::Pipeline {
  Pipeline(TokenizerParts own_parts, const SpecialTokenNames& names,
           std::function<Files()> write_files)
      : parts(std::move(own_parts)),
        added(parts.added_tokens, parts.model->vocabulary(), parts.normalizer.get()),
        write(std::move(write_files)) {
    name_special_tokens(names);
  }

  const Files& files() const {
    std::call_once(written, [&] { written_files = write(); });
    return written_files;
  }

  std::optional<int32_t> id_of(std::string_view piece) const {
    const auto id = added.find(piece);
    return id ? id : parts.model->vocabulary().find(piece);
  }

  /// Some models have control tokens among their pieces (Unigram). Text that became one is given to
  /// the model again in two parts.
  void tokenize(const std::string& text, const UntrustedParts* untrusted,
                std::vector<int32_t>& ids) const {
    const size_t before = ids.size();
    parts.model->tokenize(text, ids);
    if (untrusted == nullptr) return;
    const auto is_control = [&](int32_t id) {
      return id != special_tokens.unk && untrusted->control_tokens.contains(id);
    };
    if (std::none_of(ids.begin() + static_cast<std::ptrdiff_t>(before), ids.end(), is_control))
      return;
    const std::vector<int32_t> all(ids.begin() + static_cast<std::ptrdiff_t>(before), ids.end());
    ids.resize(before);
    for (const int32_t id : all) {
      const std::string* const piece = parts.model->vocabulary().piece(id);
      const size_t first = piece == nullptr ? 0 : code_point_at(*piece, 0).length;
      if (!is_control(id) || piece == nullptr || piece->size() <= first) {
        ids.push_back(id);
        continue;
      }
      tokenize(piece->substr(0, first), untrusted, ids);
      tokenize(piece->substr(first), untrusted, ids);
    }
  }

  void name_special_tokens(const SpecialTokenNames& names) {
    using Usual = std::initializer_list<std::string_view>;
    const auto choose = [&](const std::optional<std::string>& name, Usual usual) {
      std::optional<int32_t> id;
      if (name) return id_of(*name);
      for (const std::string_view piece : usual)
        if (!id) id = id_of(piece);
      return id;
    };
    special_tokens.bos = choose(names.bos, {"<s>", "<|begin_of_text|>", "<bos>"});
    special_tokens.eos = choose(
        names.eos, {"</s>", "<|end_of_text|>", "<eos>", "<|endoftext|>", "<｜end▁of▁sentence｜>"});
    special_tokens.pad = choose(names.pad, {"<pad>", "[PAD]"});
    special_tokens.unk = choose(names.unk, {"<unk>", "[UNK]"});
    special_tokens.mask = choose(names.mask, {"<mask>", "[MASK]"});
    special_tokens.sep = choose(names.sep, {"[SEP]"});
    special_tokens.cls = choose(names.cls, {"[CLS]"});
  }

  TokenizerParts parts;
  AddedTokens added;
  SpecialTokens special_tokens;

 private:
  std::function<Files()> write;
  mutable std::once_flag written;
  mutable Files written_files;
};

Tokenizer::Tokenizer(std::shared_ptr<const Pipeline> pipeline) : pipeline_(std::move(pipeline)) {}

Tokenizer Tokenizer::from_parts(TokenizerParts parts, const SpecialTokenNames& names, Files files) {
  return from_parts(std::move(parts), names, [kept = std::move(files)]() -> Files { return kept; });
}

Tokenizer Tokenizer::from_parts(TokenizerParts parts, const SpecialTokenNames& names,
                                std::function<Files()> write_files) {
  require(parts.model != nullptr, "a tokenizer without a model");
  return Tokenizer(
      std::make_shared<const Pipeline>(std::move(parts), names, std::move(write_files)));
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, bool special) const {
  if (is_valid_utf8(text)) return encode(text, special, nullptr);
  return encode(with_replacements(text), special, nullptr);
}

std::vector<int32_t> Tokenizer::encode(std::string_view text,
                                       const UntrustedParts& untrusted) const {
  return encode(text, false, &untrusted);
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, bool special,
                                       const UntrustedParts* untrusted) const {
  const TokenizerParts& parts = pipeline_->parts;
  TextPieces pieces = pipeline_->added.cut(text, parts.normalizer.get(), untrusted);
  if (parts.pre_tokenizer) parts.pre_tokenizer->apply(pieces, max_text_size(text.size()));
  std::vector<int32_t> ids;
  for (const TextPiece& piece : pieces) {
    check_interrupted();
    if (piece.token)
      ids.push_back(*piece.token);
    else if (!piece.text.text.empty())
      pipeline_->tokenize(piece.text.text, untrusted, ids);
  }
  return parts.post_processor.apply(std::move(ids), special);
}

std::vector<TextSpan> Tokenizer::spans(std::string_view text) const {
  const TokenizerParts& parts = pipeline_->parts;
  TextPieces pieces = pipeline_->added.cut_with_origins(text, parts.normalizer.get());
  if (parts.pre_tokenizer) parts.pre_tokenizer->apply(pieces, max_text_size(text.size()));
  std::vector<int32_t> ids;
  std::vector<TextSpan> spans;
  for (const TextPiece& piece : pieces) {
    const std::vector<TextSpan>& origins = piece.text.origins;
    const size_t before = ids.size();
    if (piece.token) {
      ids.push_back(*piece.token);
      spans.push_back(origins.front());
    } else if (!piece.text.text.empty()) {
      parts.model->tokenize(piece.text.text, ids);
      for (const TextSpan span :
           piece_spans(*parts.model, piece.text.text, std::span(ids).subspan(before)))
        spans.push_back(span.begin < span.end
                            ? TextSpan{origins[span.begin].begin, origins[span.end - 1].end}
                            : TextSpan{origins.back().end, origins.back().end});
    }
  }
  parts.post_processor.trim(spans, [&](size_t i) { return std::string_view(piece(ids[i])); });
  return spans;
}

TypedIds Tokenizer::encode_pair(std::string_view first, std::string_view second,
                                int64_t max_tokens) const {
  const PostProcessor& post_processor = pipeline_->parts.post_processor;
  std::vector<int32_t> a = encode(first, false), b = encode(second, false);
  const auto special = post_processor.apply_to_pair({}, {}).ids.size();
  const auto most = static_cast<size_t>(max_tokens);
  if (most > 0 && a.size() + b.size() + special > most) {
    const size_t room = most - std::min(most, special), half = room / 2;
    std::vector<int32_t>&shorter = a.size() <= b.size() ? a : b, &longer = &shorter == &a ? b : a;
    if (shorter.size() > half) shorter.resize(std::min(shorter.size(), half));
    longer.resize(std::min(longer.size(), room - shorter.size()));
  }
  return post_processor.apply_to_pair(a, b);
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) {
    const std::string* piece = pipeline_->added.decoded_piece(id);
    if (piece == nullptr) piece = pipeline_->parts.model->vocabulary().piece(id);
    if (piece == nullptr || (skip_special && pipeline_->added.is_special(*piece))) continue;
    pieces.push_back(*piece);
  }
  std::string text;
  if (pieces.empty()) return text;
  const Decoder* decoder = pipeline_->parts.decoder.get();
  size_t size = 0;
  for (const std::string& piece : pieces) size += piece.size();
  if (decoder != nullptr) decoder->apply(pieces, max_text_size(size));
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0 && decoder == nullptr) text.push_back(' ');
    text += pieces[i];
  }
  return text;
}

const std::string& Tokenizer::piece(int32_t id) const {
  const std::string* piece = pipeline_->added.piece(id);
  if (piece == nullptr) piece = pipeline_->parts.model->vocabulary().piece(id);
  require(piece != nullptr, "there is no piece {}: the vocabulary has {}", id, vocab_size());
  return *piece;
}

std::optional<int32_t> Tokenizer::id_of(std::string_view piece) const {
  return pipeline_->id_of(piece);
}

int64_t Tokenizer::vocab_size() const {
  return std::max(pipeline_->added.end(), pipeline_->parts.model->vocabulary().end());
}

const SpecialTokens& Tokenizer::special_tokens() const { return pipeline_->special_tokens; }

bool Tokenizer::is_special(int32_t id) const {
  const std::string* piece = pipeline_->added.piece(id);
  return piece != nullptr && pipeline_->added.is_special(*piece);
}

std::vector<int32_t> Tokenizer::added_tokens() const { return pipeline_->added.ids(); }

const Tokenizer::Files& Tokenizer::files() const { return pipeline_->files(); }

}  // namespace heed::text
