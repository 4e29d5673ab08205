#include "heed/metrics/shifted_edits.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "heed/base/interrupt.h"
#include "heed/metrics/beam_edit_distance.h"

namespace heed::metrics {
namespace {

using Edit = BeamEditDistance::Edit;

constexpr size_t kMaxShiftSize = 10, kMaxShiftDistance = 50;
constexpr int64_t kMaxShiftCandidates = 1000;

/// Words [start, start + length) of the hypothesis, moved before word `target`.
struct WordShift {
  size_t start = 0, length = 0, target = 0;
};

/// Where each word of the reference is in the hypothesis, and which words of both are wrong.
class WordAlignment {
 public:
  explicit WordAlignment(std::span<const Edit> edits) {
    int64_t in_hypothesis = -1;
    for (const Edit edit : edits) {
      const int64_t wrong = edit != Edit::none;
      if (edit != Edit::insertion) {
        ++in_hypothesis;
        hypothesis_errors_.push_back(hypothesis_errors_.back() + wrong);
      }
      if (edit != Edit::deletion) {
        positions_.push_back(in_hypothesis);
        reference_errors_.push_back(reference_errors_.back() + wrong);
      }
    }
  }

  /// -1 before the first word.
  int64_t position(size_t reference_word) const { return positions_[reference_word]; }
  bool any_wrong_in_hypothesis(size_t begin, size_t length) const {
    return hypothesis_errors_[begin + length] > hypothesis_errors_[begin];
  }
  bool any_wrong_in_reference(size_t begin, size_t length) const {
    return reference_errors_[begin + length] > reference_errors_[begin];
  }

 private:
  std::vector<int64_t> positions_;
  std::vector<int64_t> hypothesis_errors_ = {0}, reference_errors_ = {0};  // before each word
};

/// Shifts `words` and returns the range of words that may have changed.
std::pair<size_t, size_t> perform(const WordShift& shift, std::vector<int32_t>& words) {
  const size_t end = shift.start + shift.length;
  const auto at = [&](size_t index) { return words.begin() + static_cast<int64_t>(index); };
  if (shift.target < shift.start) {
    std::rotate(at(shift.target), at(shift.start), at(end));
    return {shift.target, end};
  }
  // Into itself: over as many words as it is moved.
  const size_t last =
      shift.target > end ? shift.target : std::min(words.size(), shift.length + shift.target);
  std::rotate(at(shift.start), at(end), at(last));
  return {shift.start, last};
}

/// The search for the best shift of a hypothesis.
class ShiftSearch {
 public:
  ShiftSearch(std::span<const int32_t> hypothesis, std::span<const int32_t> reference,
              int64_t& candidates)
      : hypothesis_(hypothesis),
        reference_(reference),
        distances_(reference, hypothesis),
        alignment_(distances_.edits()),
        candidates_(candidates) {}

  int32_t distance() const { return distances_.distance(); }

  /// Whether a shift lowers the distance; then `best` is the one that does so most.
  bool find(WordShift& best) {
    for (size_t start = 0; start < hypothesis_.size(); ++start) {
      const size_t first = start - std::min(start, kMaxShiftDistance);
      const size_t last = std::min(reference_.size(), start + kMaxShiftDistance + 1);
      for (size_t place = first; place < last; ++place)
        if (!try_matches(start, place)) return found(best);
    }
    return found(best);
  }

 private:
  bool found(WordShift& best) const {
    best = best_;
    return gain_ > 0;
  }

  /// Tries to move the words from `start` that the reference has at `place`, and each beginning of
  /// them. Returns false when enough has been tried.
  bool try_matches(size_t start, size_t place) {
    const size_t most = matching_words(start, place);
    for (size_t length = 1; length <= most; ++length)
      if (!try_match(start, place, length)) return false;
    return true;
  }

  size_t matching_words(size_t start, size_t place) const {
    const size_t most =
        std::min({kMaxShiftSize, hypothesis_.size() - start, reference_.size() - place});
    size_t length = 0;
    while (length < most && hypothesis_[start + length] == reference_[place + length]) ++length;
    return length;
  }

  bool try_match(size_t start, size_t place, size_t length) {
    if (!alignment_.any_wrong_in_hypothesis(start, length) ||
        !alignment_.any_wrong_in_reference(place, length))
      return true;
    const int64_t there = alignment_.position(place);
    if (there >= static_cast<int64_t>(start) && there < static_cast<int64_t>(start + length))
      return true;
    int64_t previous = -1;
    for (size_t offset = 0; offset <= length; ++offset) {
      const size_t before = place + offset;  // the word of the reference after the one it follows
      const int64_t target = before == 0 ? 0 : alignment_.position(before - 1) + 1;
      if (target == previous) continue;
      previous = target;
      try_shift({start, length, static_cast<size_t>(target)});
      ++candidates_;
    }
    return candidates_ < kMaxShiftCandidates;
  }

  /// Among shifts of the same gain the longest wins, then the earliest match, then the earliest
  /// target.
  void try_shift(const WordShift& shift) {
    shifted_.assign(hypothesis_.begin(), hypothesis_.end());
    const auto [begin, end] = perform(shift, shifted_);
    const int32_t limit = distance() - std::max(gain_, 1);
    const int32_t gain = distance() - distances_.distance_of(shifted_, begin, end, limit);
    if (gain < std::max(gain_, 1)) return;
    const auto rank = [](const WordShift& s) { return std::tuple(s.length, ~s.start, ~s.target); };
    if (gain > gain_ || rank(shift) > rank(best_)) best_ = shift;
    gain_ = gain;
  }

  const std::span<const int32_t> hypothesis_, reference_;
  BeamEditDistance distances_;
  const WordAlignment alignment_;
  int64_t& candidates_;
  std::vector<int32_t> shifted_;
  WordShift best_;
  int32_t gain_ = 0;
};

}  // namespace

int64_t shifted_edits(std::span<const int32_t> hypothesis, std::span<const int32_t> reference) {
  if (reference.empty()) return static_cast<int64_t>(hypothesis.size());
  std::vector<int32_t> words(hypothesis.begin(), hypothesis.end());
  int64_t shifts = 0, candidates = 0;
  for (;;) {
    check_interrupted();
    ShiftSearch search(words, reference, candidates);
    WordShift shift;
    if (!search.find(shift) || candidates >= kMaxShiftCandidates) return shifts + search.distance();
    perform(shift, words);
    ++shifts;
  }
}

}  // namespace heed::metrics
