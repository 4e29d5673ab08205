#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/text/models/best_paths.h"
#include "heed/text/models/tokenizer_model.h"
#include "heed/text/piece_automaton.h"

namespace heed::text {
namespace {

class Unigram : public TokenizerModel {
 public:
  Unigram(Vocabulary vocabulary, std::vector<double> scores, const UnigramOptions& options)
      : TokenizerModel(std::move(vocabulary)),
        scores_(std::move(scores)),
        options_(options),
        automaton_(this->vocabulary()) {
    constexpr double kUnknownPenalty = 10;
    double least = std::numeric_limits<double>::infinity();
    for (const double score : scores_) least = std::min(least, score);
    unknown_score_ = least - kUnknownPenalty;
  }

  bool joins_bytes() const override { return true; }
  bool spells_bytes() const override { return true; }
  /// A piece that occurs twice has two ids.
  int32_t next_id() const override { return vocabulary().end(); }

  void tokenize(std::string_view word, std::vector<int32_t>& ids) const override {
    const auto best =
        best_paths(word, automaton_, scores_, unknown_score_, [this] { return unknown(); });
    std::vector<TextSpan> reversed;  // pieces; adjacent unknown ones are fused
    bool in_unknown = false;
    for (size_t end = word.size(); end > 0; end = best[end].begin) {
      const bool unknown = options_.unknown && best[end].id == *options_.unknown;
      if (unknown && in_unknown)
        reversed.back().begin = best[end].begin;
      else
        reversed.push_back({best[end].begin, end});
      in_unknown = unknown;
    }
    for (auto span = reversed.rbegin(); span != reversed.rend(); ++span)
      add(word.substr(span->begin, span->end - span->begin), ids);
  }

 private:
  struct TextSpan {
    size_t begin, end;
  };
  int32_t unknown() const {
    require_input(options_.unknown.has_value(),
                  "a character is not in the vocabulary, which has no unknown piece");
    return *options_.unknown;
  }

  void add(std::string_view piece, std::vector<int32_t>& ids) const {
    if (const auto id = vocabulary().find(piece)) {
      ids.push_back(*id);
      return;
    }
    if (options_.byte_fallback) {
      if (const auto bytes = byte_pieces(vocabulary(), piece)) {
        ids.insert(ids.end(), bytes->begin(), bytes->end());
        return;
      }
    }
    ids.push_back(unknown());
  }

  std::vector<double> scores_;
  UnigramOptions options_;
  double unknown_score_ = 0;
  PieceAutomaton automaton_;
};

}  // namespace

std::unique_ptr<TokenizerModel> make_unigram(
    const std::vector<std::pair<std::string, double>>& pieces, const UnigramOptions& options,
    const std::string& file) {
  require(!options.unknown ||
              (*options.unknown >= 0 && *options.unknown < static_cast<int64_t>(pieces.size())),
          "{}: unk_id is {}, outside the vocabulary of {}", file, options.unknown.value_or(0),
          pieces.size());
  Vocabulary vocabulary;
  std::vector<double> scores;
  for (const auto& [piece, score] : pieces) {
    vocabulary.add(piece, static_cast<int32_t>(scores.size()));
    scores.push_back(score);
  }
  return std::make_unique<Unigram>(std::move(vocabulary), std::move(scores), options);
}

std::unique_ptr<TokenizerModel> read_unigram(const nlohmann::json& json, const std::string& file) {
  const auto found = json.find("vocab");
  require(found != json.end() && found->is_array(),
          "{}: the model's vocab is missing or not a list", file);
  std::vector<std::pair<std::string, double>> pieces;
  for (const auto& entry : *found) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
      fail("{}: {} in the vocabulary, expected a piece and its score", file, excerpt(entry));
    pieces.emplace_back(entry[0].get<std::string>(), entry[1].get<double>());
  }
  UnigramOptions options;
  const auto unknown = json.find("unk_id");
  if (unknown != json.end() && !unknown->is_null())
    options.unknown = static_cast<int32_t>(
        integer_of(*unknown, "unk_id", file, 0, static_cast<int64_t>(pieces.size()) - 1));
  options.byte_fallback = get_or<bool>(json, "byte_fallback", false, file);
  return make_unigram(pieces, options, file);
}

}  // namespace heed::text
