#include "heed/text/translation_pieces.h"

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/text/decoders/replace_all.h"

namespace heed::text {
namespace {

using Numbers = std::unordered_map<std::string, int32_t>;

int32_t number_of(const Numbers& numbers, const std::string& piece, int32_t otherwise) {
  const auto found = numbers.find(piece);
  return found == numbers.end() ? otherwise : found->second;
}

/// One language's SentencePiece model and vocabulary.
class Side {
 public:
  /// Pieces of `other` that have a number are text, too.
  Side(SentencePiece model, const SentencePiece& other, std::shared_ptr<const PieceNames> names)
      : model_(std::move(model)), names_(std::move(names)) {
    Numbers numbers;
    for (size_t id = 0; id < names_->size(); ++id)
      numbers.emplace((*names_)[id], static_cast<int32_t>(id));
    const int32_t eos = number_of(numbers, "</s>", -1), unknown = number_of(numbers, "<unk>", -1);
    require(eos >= 0 && unknown >= 0, "the vocabulary has no </s> or no <unk>");
    for (int32_t id = 0; id < model_.vocab_size(); ++id)
      to_token_.push_back(number_of(numbers, model_.piece(id), unknown));
    for (const std::string& name : *names_)
      is_text_.push_back(model_.is_text(name) || other.is_text(name));
  }

  std::vector<int32_t> encode(std::string_view text) const {
    std::vector<int32_t> tokens = model_.encode(text);
    for (int32_t& token : tokens) token = to_token_[static_cast<size_t>(token)];
    return tokens;
  }

  std::string decode(std::span<const int32_t> tokens) const {
    std::vector<std::string> pieces;
    // A model may have more rows than pieces.
    for (const int32_t token : tokens)
      if (token < size())
        if (const std::string& own = piece(token); is_text_[static_cast<size_t>(token)])
          pieces.push_back(own);
    return model_.decode_pieces(pieces);
  }

  const std::string& piece(int32_t token) const {
    require_input(token >= 0 && token < size(), "token {} is outside the vocabulary of {}", token,
                  size());
    return (*names_)[static_cast<size_t>(token)];
  }

  int64_t size() const { return static_cast<int64_t>(names_->size()); }

 private:
  SentencePiece model_;
  std::shared_ptr<const PieceNames> names_;
  std::vector<int32_t> to_token_;  // SentencePiece's ids to ours
  std::vector<bool> is_text_;      // by token; others are special
};

class SentencePiecePairs : public TranslationPieces {
 public:
  SentencePiecePairs(Side source, Side target)
      : source_(std::move(source)), target_(std::move(target)) {}

  std::vector<int32_t> source(std::string_view text) const override { return source_.encode(text); }
  std::vector<int32_t> target(std::string_view text) const override { return target_.encode(text); }
  std::string text(std::span<const int32_t> tokens) const override {
    return target_.decode(tokens);
  }
  const std::string& source_piece(int32_t token) const override { return source_.piece(token); }
  const std::string& target_piece(int32_t token) const override { return target_.piece(token); }
  std::string target_bytes(int32_t token) const override {
    std::string bytes = target_.piece(token);
    replace_all(bytes, "\u2581", " ");
    return bytes;
  }
  int64_t source_size() const override { return source_.size(); }
  int64_t target_size() const override { return target_.size(); }

 private:
  Side source_, target_;
};

class TokenizerPieces : public TranslationPieces {
 public:
  explicit TokenizerPieces(Tokenizer tokenizer) : tokenizer_(std::move(tokenizer)) {}

  std::vector<int32_t> source(std::string_view text) const override {
    return tokenizer_.encode(text, false);
  }
  std::vector<int32_t> target(std::string_view text) const override {
    return tokenizer_.encode(text, false);
  }
  std::string text(std::span<const int32_t> tokens) const override {
    return tokenizer_.decode(tokens);
  }
  const std::string& source_piece(int32_t token) const override { return tokenizer_.piece(token); }
  const std::string& target_piece(int32_t token) const override { return tokenizer_.piece(token); }
  std::string target_bytes(int32_t token) const override { return tokenizer_.token_bytes(token); }
  int64_t source_size() const override { return tokenizer_.vocab_size(); }
  int64_t target_size() const override { return tokenizer_.vocab_size(); }

 private:
  Tokenizer tokenizer_;
};

}  // namespace

PieceNames read_piece_names(const std::string& contents, const std::string& file) {
  const nlohmann::json json = parse_json(contents, file);
  require(json.is_object() && !json.empty(), "{}: expected an object of pieces", file);
  PieceNames pieces(json.size());
  std::vector<bool> taken(json.size());
  for (const auto& [piece, value] : json.items()) {
    const auto id = get<int64_t>(json, piece, file);
    if (id < 0 || id >= static_cast<int64_t>(json.size()))
      fail("{}: {} has the id {}, expected 0 to {}", file, quoted(piece), id, json.size() - 1);
    const auto place = static_cast<size_t>(id);
    if (taken[place])
      fail("{}: {} and {} both have the id {}", file, quoted(pieces[place]), quoted(piece), id);
    taken[place] = true;
    pieces[place] = piece;
  }
  return pieces;
}

std::shared_ptr<const TranslationPieces> sentencepiece_pairs(
    const SentencePiece& source, const SentencePiece& target,
    std::shared_ptr<const PieceNames> source_names,
    std::shared_ptr<const PieceNames> target_names) {
  return std::make_shared<SentencePiecePairs>(Side(source, target, std::move(source_names)),
                                              Side(target, source, std::move(target_names)));
}

std::shared_ptr<const TranslationPieces> tokenizer_pieces(Tokenizer tokenizer) {
  return std::make_shared<TokenizerPieces>(std::move(tokenizer));
}

}  // namespace heed::text
