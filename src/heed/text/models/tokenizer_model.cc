#include "heed/text/models/tokenizer_model.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"

namespace heed::text {
namespace {

/// Each word is one piece.
class WordLevel : public TokenizerModel {
 public:
  WordLevel(Vocabulary vocabulary, std::string unknown)
      : TokenizerModel(std::move(vocabulary)), unknown_(std::move(unknown)) {}

  void tokenize(std::string_view word, std::vector<int32_t>& ids) const override {
    auto id = vocabulary().find(word);
    if (!id) id = vocabulary().find(unknown_);
    if (!id)
      fail_input("neither the word {} nor the unknown piece {} is in the vocabulary", quoted(word),
                 quoted(unknown_));
    ids.push_back(*id);
  }

 private:
  std::string unknown_;
};

/// Files of the first versions of `tokenizers` have no "type".
std::string type_of(const nlohmann::json& json) {
  if (json.contains("merges")) return "BPE";
  if (json.contains("max_input_chars_per_word")) return "WordPiece";
  return json.contains("unk_id") ? "Unigram" : "WordLevel";
}

}  // namespace

std::string_view TokenizerModel::text_of(std::string_view piece, bool /*first*/) const {
  return piece;
}

std::string_view without_prefix(std::string_view piece, const std::string& prefix, bool first) {
  if (!first && piece.starts_with(prefix)) piece.remove_prefix(prefix.size());
  return piece;
}

std::string byte_piece(uint8_t byte) { return fmt::format("<0x{:02X}>", byte); }

std::optional<std::vector<int32_t>> byte_pieces(const Vocabulary& vocabulary,
                                                std::string_view text) {
  std::vector<int32_t> ids;
  for (const char byte : text) {
    const auto id = vocabulary.find(byte_piece(static_cast<uint8_t>(byte)));
    if (!id) return std::nullopt;
    ids.push_back(*id);
  }
  return ids;
}

Vocabulary read_vocabulary(const nlohmann::json& model, const std::string& file) {
  const auto found = model.find("vocab");
  require(found != model.end(), "{}: the model's vocab is missing", file);
  return Vocabulary::read(*found, file);
}

std::unique_ptr<TokenizerModel> read_model(const nlohmann::json& json, const std::string& file) {
  if (!json.is_object()) fail("{}: model is {}, expected an object", file, excerpt(json));
  const auto type = get_or<std::string>(json, "type", type_of(json), file);
  if (type == "BPE") return read_bpe(json, file);
  if (type == "WordPiece") return read_word_piece(json, file);
  if (type == "Unigram") return read_unigram(json, file);
  if (type == "WordLevel")
    return std::make_unique<WordLevel>(read_vocabulary(json, file),
                                       get<std::string>(json, "unk_token", file));
  fail("{}: the model {} is not known", file, excerpt(json["type"]));
}

}  // namespace heed::text
