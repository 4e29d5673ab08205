#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/text/models/tokenizer_model.h"
#include "heed/text/piece_automaton.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

/// The pieces that continue a word, without the prefix.
PieceAutomaton backward_continuations(const Vocabulary& vocabulary, const std::string& prefix) {
  std::vector<PieceAutomaton::Piece> pieces;
  for (int32_t id = 0; id < vocabulary.end(); ++id) {
    const std::string* piece = vocabulary.piece(id);
    if (piece != nullptr && piece->starts_with(prefix) && vocabulary.find(*piece) == id)
      pieces.push_back({std::string_view(*piece).substr(prefix.size()), id});
  }
  return PieceAutomaton::backward(pieces);
}

/// The distinct lengths of pieces in bytes. There are few: n of them take at least n * n / 2 bytes
/// of pieces.
std::vector<size_t> descending_lengths(const Vocabulary& vocabulary) {
  std::set<size_t, std::greater<>> lengths;
  for (int32_t id = 0; id < vocabulary.end(); ++id)
    if (const std::string* piece = vocabulary.piece(id); piece != nullptr && !piece->empty())
      lengths.insert(piece->size());
  return {lengths.begin(), lengths.end()};
}

class WordPieceModel : public TokenizerModel {
 public:
  WordPieceModel(Vocabulary vocabulary, const WordPieceOptions& options)
      : TokenizerModel(std::move(vocabulary)),
        options_(options),
        lengths_(descending_lengths(this->vocabulary())),
        continuations_(backward_continuations(this->vocabulary(), options.continuing_prefix)) {}

  void tokenize(std::string_view word, std::vector<int32_t>& ids) const override {
    const size_t before = ids.size();
    const auto code_points = static_cast<int64_t>(count_code_points(word));
    if (code_points <= options_.longest_word && match_pieces(word, ids)) return;
    const auto unknown = vocabulary().find(options_.unknown);
    if (!unknown)
      fail_input("neither the word {} nor the unknown piece {} is in the vocabulary", quoted(word),
                 quoted(options_.unknown));
    ids.resize(before);
    ids.push_back(*unknown);
  }

  std::string_view text_of(std::string_view piece, bool first) const override {
    return without_prefix(piece, options_.continuing_prefix, first);
  }

 private:
  struct Found {
    size_t size = 0;  // bytes; 0 where there is no piece
    int32_t id = 0;
  };

  /// False when some part of the word is not a piece.
  bool match_pieces(std::string_view word, std::vector<int32_t>& ids) const {
    if (word.empty()) return true;
    if (const auto whole = vocabulary().find(word)) {
      ids.push_back(*whole);
      return true;
    }
    const Found first = longest_prefix(word);
    if (first.size == 0) return false;
    ids.push_back(first.id);
    const std::vector<Found> longest = longest_continuations(word, first.size);
    for (size_t begin = first.size; begin < word.size(); begin += longest[begin].size) {
      if (longest[begin].size == 0) return false;
      ids.push_back(longest[begin].id);
    }
    return true;
  }

  Found longest_prefix(std::string_view word) const {
    for (const size_t length : lengths_)
      if (length <= word.size())
        if (const auto id = vocabulary().find(word.substr(0, length))) return {length, *id};
    return {};
  }

  /// For each byte from `begin` on the longest piece that continues the word there.
  std::vector<Found> longest_continuations(std::string_view word, size_t begin) const {
    std::vector<Found> longest(word.size());
    continuations_.for_each_longest(word, begin, [&](size_t at, size_t size, int32_t id) {
      longest[at] = {size, id};
    });
    return longest;
  }

  WordPieceOptions options_;
  std::vector<size_t> lengths_;
  PieceAutomaton continuations_;
};

}  // namespace

std::unique_ptr<TokenizerModel> make_word_piece(Vocabulary vocabulary,
                                                const WordPieceOptions& options) {
  return std::make_unique<WordPieceModel>(std::move(vocabulary), options);
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
