#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "heed/text/piece_automaton.h"
#include "heed/text/step_check.h"
#include "heed/text/utf8.h"

namespace heed::text {

/// The best segmentation of the first bytes of a text: its last piece, and the sum of its scores,
/// which is rounded to `Score`.
template <typename Score>
struct BestPath {
  static constexpr size_t kNone = SIZE_MAX;
  size_t begin = kNone;  // of the last piece
  Score score = 0;
  int32_t id = 0;

  void offer(size_t from, double with_score, int32_t with_id) {
    if (begin == kNone || with_score > static_cast<double>(score))
      *this = {from, static_cast<Score>(with_score), with_id};
  }
};

/// The Viterbi algorithm for a unigram language model (Kudo, 2018): result[i] is for the first i
/// bytes, where a code point ends there. A code point that is no piece of its own may be unknown(),
/// with `unknown_score`. Among equal scores the longest last piece wins. Can be interrupted.
template <typename Score, typename Unknown>
std::vector<BestPath<Score>> best_paths(std::string_view text, const PieceAutomaton& pieces,
                                        const std::vector<double>& scores, Score unknown_score,
                                        Unknown&& unknown) {
  std::vector<BestPath<Score>> best(text.size() + 1);
  PieceAutomaton::State state = PieceAutomaton::kStart;
  StepCheck check;
  for (size_t begin = 0; begin < text.size(); check.step()) {
    const size_t length = code_point_at(text, begin).length, end = begin + length;
    for (size_t i = begin; i < end; ++i) state = pieces.next(state, static_cast<uint8_t>(text[i]));
    bool has_single = false;
    pieces.for_each_suffix(state, [&](size_t size, int32_t id) {
      const auto before = static_cast<double>(best[end - size].score);
      best[end].offer(end - size, scores[static_cast<size_t>(id)] + before, id);
      has_single = has_single || size == length;
    });
    if (!has_single)
      best[end].offer(begin, static_cast<double>(unknown_score + best[begin].score), unknown());
    begin = end;
  }
  return best;
}

}  // namespace heed::text
