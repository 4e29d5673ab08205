#include "heed/text/tokenizer.h"

#include <algorithm>
#include <mutex>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/text/fill_in_middle.h"
#include "heed/text/piece_spans.h"
#include "heed/text/read_text.h"
#include "heed/text/text_size.h"
#include "heed/text/utf8.h"

namespace heed::text {

struct Tokenizer::Pipeline {
  Pipeline(TokenizerParts own_parts, const SpecialTokenNames& names,
           std::function<Files()> write_files)
      : parts(std::move(own_parts)),
        added(parts.added_tokens, *parts.model, parts.normalizer.get(), parts.split_special_tokens),
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

  const std::string* decoded_piece(int32_t id) const {
    const std::string* piece = added.decoded_piece(id);
    return piece == nullptr ? parts.model->vocabulary().piece(id) : piece;
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
    fill_in_middle = with_usual_tokens(parts.fill_in_middle,
                                       [&](std::string_view piece) { return id_of(piece); });
  }

  TokenizerParts parts;
  AddedTokens added;
  SpecialTokens special_tokens;
  FillInMiddleTokens fill_in_middle;

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
  TextPieces pieces = pipeline_->added.split(text, parts.normalizer.get(), untrusted);
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

Tokenizer::AlignedIds Tokenizer::encode_with_spans(std::string_view text) const {
  const TokenizerParts& parts = pipeline_->parts;
  TextPieces pieces = pipeline_->added.split_aligned(text, parts.normalizer.get());
  if (parts.pre_tokenizer) parts.pre_tokenizer->apply(pieces, max_text_size(text.size()));
  AlignedIds placed;
  auto& [ids, spans] = placed;
  std::vector<std::string_view> written;  // what each token stands for
  for (const TextPiece& piece : pieces) {
    check_interrupted();
    const std::vector<TextSpan>& alignments = piece.text.alignments;
    const size_t before = ids.size();
    if (piece.token) {
      ids.push_back(*piece.token);
      spans.push_back({alignments.front().begin, alignments.back().end});
      written.push_back(piece.text.text);
    } else if (!piece.text.text.empty()) {
      parts.model->tokenize(piece.text.text, ids);
      for (const TextSpan span :
           piece_spans(*parts.model, piece.text.text, std::span(ids).subspan(before)))
        spans.push_back(span.begin < span.end
                            ? TextSpan{alignments[span.begin].begin, alignments[span.end - 1].end}
                            : TextSpan{alignments.back().end, alignments.back().end});
      for (size_t i = before; i < ids.size(); ++i) written.push_back(this->piece(ids[i]));
    }
  }
  parts.post_processor.trim(text, written, spans);
  return placed;
}

Encoding Tokenizer::encode_with_offsets(std::string_view first,
                                        const std::optional<std::string_view>& second,
                                        const EncodeOptions& options) const {
  require_input(options.max_tokens >= 0, "max_tokens is {}, expected at least 0",
                options.max_tokens);
  const PostProcessor& post_processor = pipeline_->parts.post_processor;
  const auto read = [&](std::string_view text) {
    const ReadText as_read(text, options.offsets);
    AlignedIds placed = encode_with_spans(as_read.text());
    for (TextSpan& span : placed.spans) span = as_read.offsets_of(span);
    return placed;
  };
  AlignedIds texts[2] = {read(first), second ? read(*second) : AlignedIds()};
  const auto [kept, kept_second] = post_processor.truncated(
      texts[0].ids.size(), second ? std::optional(texts[1].ids.size()) : std::nullopt,
      static_cast<size_t>(options.max_tokens), options.special);
  Encoding result;
  for (const ProcessedToken& token : post_processor.place(kept, kept_second, options.special)) {
    const bool added = token.sequence < 0;
    const AlignedIds& source = texts[added ? 0 : token.sequence];
    const TextSpan span = added ? TextSpan() : source.spans[token.index];
    result.ids.push_back(added ? token.id : source.ids[token.index]);
    result.type_ids.push_back(token.type);
    result.sequence_ids.push_back(token.sequence);
    result.offsets.push_back({span.begin, span.end});
  }
  return result;
}

TypedIds Tokenizer::encode_pair(std::string_view first, std::string_view second,
                                int64_t max_tokens) const {
  const PostProcessor& post_processor = pipeline_->parts.post_processor;
  std::vector<int32_t> a = encode(first, false), b = encode(second, false);
  const auto [kept_a, kept_b] =
      post_processor.truncated(a.size(), b.size(), static_cast<size_t>(max_tokens), true);
  a.resize(kept_a);
  b.resize(kept_b.value());
  return post_processor.apply_to_pair(a, b);
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) {
    const std::string* piece = pipeline_->decoded_piece(id);
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

std::string Tokenizer::token_bytes(int32_t id) const {
  const std::string* piece = pipeline_->decoded_piece(id);
  if (piece == nullptr) return "";
  const Decoder* decoder = pipeline_->parts.decoder.get();
  if (decoder == nullptr) return ' ' + *piece;
  bool joined = false;
  return decoder->bytes_of(*piece, joined);
}

const std::string& Tokenizer::piece(int32_t id) const {
  const std::string* piece = pipeline_->added.piece(id);
  if (piece == nullptr) piece = pipeline_->parts.model->vocabulary().piece(id);
  require_input(piece != nullptr, "there is no piece {}: the vocabulary has {}", id, vocab_size());
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

const FillInMiddleTokens& Tokenizer::fill_in_middle() const { return pipeline_->fill_in_middle; }

std::vector<int32_t> Tokenizer::added_tokens() const { return pipeline_->added.ids(); }

const Tokenizer::Files& Tokenizer::files() const { return pipeline_->files(); }

const std::vector<std::string>& Tokenizer::warnings() const { return pipeline_->parts.warnings; }

}  // namespace heed::text
