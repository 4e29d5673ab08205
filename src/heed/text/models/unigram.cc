#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/text/files/step_check.h"
#include "heed/text/models/tokenizer_model.h"
#include "heed/text/piece_automaton.h"
#include "heed/text/utf8.h"

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
    const std::vector<Arrival> best = best_paths(word);
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
  /// The best segmentation up to a byte: its last piece, and the sum of its scores.
  struct Arrival {
    static constexpr size_t kNowhere = SIZE_MAX;
    size_t begin = kNowhere;
    double score = 0;
    int32_t id = 0;

    void offer(size_t from, double with_score, int32_t with_id) {
      if (begin == kNowhere || with_score > score) *this = {from, with_score, with_id};
    }
  };

  /// The Viterbi algorithm; result[i] is for the first i bytes, where a code point ends there.
  /// Among equal scores the longest last piece wins.
  std::vector<Arrival> best_paths(std::string_view word) const {
    std::vector<Arrival> best(word.size() + 1);
    PieceAutomaton::State state = PieceAutomaton::kStart;
    StepCheck check;
    for (size_t begin = 0; begin < word.size(); check.step()) {
      const size_t length = code_point_at(word, begin).length, end = begin + length;
      for (size_t i = begin; i < end; ++i)
        state = automaton_.next(state, static_cast<uint8_t>(word[i]));
      bool has_single = false;
      automaton_.for_each_suffix(state, [&](size_t size, int32_t id) {
        const double before = best[end - size].score;
        best[end].offer(end - size, scores_[static_cast<size_t>(id)] + before, id);
        has_single = has_single || size == length;
      });
      if (!has_single) best[end].offer(begin, unknown_score_ + best[begin].score, unknown());
      begin = end;
    }
    return best;
  }

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
