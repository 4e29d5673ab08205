#include <algorithm>

#include "heed/base/json.h"
#include "heed/text/models/tokenizer_model.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

class WordPiece : public TokenizerModel {
 public:
  WordPiece(Vocabulary vocabulary, const WordPieceOptions& options)
      : TokenizerModel(std::move(vocabulary)), options_(options) {
    for (int32_t id = 0; id < this->vocabulary().end(); ++id)
      if (const std::string* piece = this->vocabulary().piece(id))
        longest_piece_ = std::max(longest_piece_, piece->size());
  }

  void tokenize(std::string_view word, std::vector<int32_t>& ids) const override {
    const size_t before = ids.size();
    const auto code_points =
        std::count_if(word.begin(), word.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
    if (code_points <= options_.longest_word && cut(word, ids)) return;
    const auto unknown = vocabulary().find(options_.unknown);
    require(unknown.has_value(), "the word \"{}\" is unknown and so is the piece \"{}\"",
            one_line(word), one_line(options_.unknown));
    ids.resize(before);
    ids.push_back(*unknown);
  }

 private:
  bool cut(std::string_view word, std::vector<int32_t>& ids) const {
    std::string piece;
    for (size_t begin = 0; begin < word.size();) {
      const std::string_view prefix = begin > 0 ? std::string_view(options_.continuing_prefix) : "";
      size_t end = std::min(word.size(), begin + longest_piece_);
      std::optional<int32_t> found;
      for (; end > begin; --end) {
        if (end < word.size() && (word[end] & 0xC0) == 0x80) continue;
        piece = prefix;
        piece += word.substr(begin, end - begin);
        if ((found = vocabulary().find(piece))) break;
      }
      if (!found) return false;
      ids.push_back(*found);
      begin = end;
    }
    return true;
  }

  WordPieceOptions options_;
  size_t longest_piece_ = 0;  // bytes
};

}  // namespace

std::unique_ptr<TokenizerModel> make_word_piece(Vocabulary vocabulary,
                                                const WordPieceOptions& options) {
  return std::make_unique<WordPiece>(std::move(vocabulary), options);
}

std::unique_ptr<TokenizerModel> read_word_piece(const nlohmann::json& json,
                                                const std::string& file) {
  WordPieceOptions options;
  options.unknown = get<std::string>(json, "unk_token", file);
  options.continuing_prefix = get<std::string>(json, "continuing_subword_prefix", file);
  options.longest_word = get<int64_t>(json, "max_input_chars_per_word", file);
  return make_word_piece(read_vocabulary(json, file), options);
}

}  // namespace heed::text
