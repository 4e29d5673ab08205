#include "heed/metrics/beam_edit_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::metrics {
namespace {

/// Adding 1 to it, and to that, does not overflow.
constexpr int32_t kInfinite = std::numeric_limits<int32_t>::max() / 2;
constexpr size_t kBeamWidth = 25;

/// How `cells` differ from `others`, of which they are a copy plus a constant; kInfinite if they
/// are not.
int32_t constant_difference(std::span<const int32_t> cells, std::span<const int32_t> others) {
  int32_t difference = kInfinite;
  for (size_t j = 0; j < cells.size(); ++j) {
    if (cells[j] == kInfinite && others[j] == kInfinite) continue;
    if (difference == kInfinite) difference = cells[j] - others[j];
    if (cells[j] == kInfinite || others[j] == kInfinite || cells[j] - others[j] != difference)
      return kInfinite;
  }
  return difference;
}

}  // namespace

int32_t BeamEditDistance::Row::at(size_t j) const {
  return j >= begin && j - begin < cells.size() ? cells[j - begin] : kInfinite;
}

BeamEditDistance::BeamEditDistance(std::span<const int32_t> reference,
                                   std::span<const int32_t> hypothesis)
    : reference_(reference), hypothesis_(hypothesis) {
  size_t total = 0, widest = 0;
  for (size_t i = 0; i <= hypothesis.size(); ++i) {
    bands_.push_back(band_of(i));
    bands_.back().offset = total;
    total += bands_.back().width;
    widest = std::max(widest, bands_.back().width);
  }
  cells_.resize(total);
  for (std::vector<int32_t>& cells : scratch_) cells.resize(widest);
  for (size_t j = 0; j <= reference.size(); ++j) cells_[j] = static_cast<int32_t>(j);
  for (size_t i = 1; i <= hypothesis.size(); ++i)
    fill(row(i - 1), bands_[i], hypothesis[i - 1],
         std::span(cells_).subspan(bands_[i].offset, bands_[i].width));
}

/// Row 0 is complete, the last one ends with the reference. The diagonal has the slope of the two
/// lengths, and the beam is so wide that the bands of neighbours overlap.
BeamEditDistance::Band BeamEditDistance::band_of(size_t row) const {
  const size_t columns = reference_.size() + 1;
  if (row == 0) return {0, columns, 0};
  const double ratio =
      static_cast<double>(reference_.size()) / static_cast<double>(hypothesis_.size());
  size_t beam = kBeamWidth;
  if (static_cast<double>(kBeamWidth) < ratio / 2)
    beam = static_cast<size_t>(std::ceil(ratio / 2 + static_cast<double>(kBeamWidth)));
  const auto diagonal = static_cast<size_t>(std::floor(static_cast<double>(row) * ratio));
  const size_t begin = diagonal > beam ? diagonal - beam : 0;
  const size_t end = row == hypothesis_.size() ? columns : std::min(columns, diagonal + beam);
  return {begin, end > begin ? end - begin : 0, 0};
}

BeamEditDistance::Row BeamEditDistance::row(size_t i) const {
  return {bands_[i].begin, std::span(cells_).subspan(bands_[i].offset, bands_[i].width)};
}

int32_t BeamEditDistance::fill(const Row& before, const Band& band, int32_t word,
                               std::span<int32_t> cells) const {
  int32_t smallest = kInfinite, left = kInfinite;
  int32_t diagonal = band.begin > 0 ? before.at(band.begin - 1) : kInfinite;
  for (size_t k = 0; k < band.width; ++k) {
    const size_t j = band.begin + k;
    const int32_t above = before.at(j);
    int32_t cell = std::min({kInfinite, above + 1, left + 1});
    if (j > 0) cell = std::min(cell, diagonal + (reference_[j - 1] == word ? 0 : 1));
    cells[k] = left = cell;
    diagonal = above;
    smallest = std::min(smallest, cell);
  }
  return smallest;
}

int32_t BeamEditDistance::distance() const { return row(hypothesis_.size()).at(reference_.size()); }

std::vector<BeamEditDistance::Edit> BeamEditDistance::edits() const {
  std::vector<Edit> edits;
  size_t i = hypothesis_.size(), j = reference_.size();
  while (i > 0 || j > 0) {
    // A substitution is preferred to a deletion, and that to an insertion.
    const int32_t cell = row(i).at(j);
    Edit edit = Edit::insertion;
    if (i > 0 && j > 0) {
      const bool same = hypothesis_[i - 1] == reference_[j - 1];
      const Row before = row(i - 1);
      if (before.at(j - 1) + (same ? 0 : 1) == cell)
        edit = same ? Edit::none : Edit::substitution;
      else if (before.at(j) + 1 == cell)
        edit = Edit::deletion;
    } else if (i > 0) {
      edit = Edit::deletion;
    }
    edits.push_back(edit);
    i -= edit != Edit::insertion;
    j -= edit != Edit::deletion;
  }
  std::reverse(edits.begin(), edits.end());
  return edits;
}

int32_t BeamEditDistance::distance_of(std::span<const int32_t> changed, size_t begin, size_t end,
                                      int32_t limit) {
  Row before = row(begin);
  for (size_t i = begin + 1; i <= changed.size(); ++i) {
    const std::span<int32_t> cells = std::span(scratch_[i % 2]).first(bands_[i].width);
    if (fill(before, bands_[i], changed[i - 1], cells) > limit) return kInfinite;
    before = {bands_[i].begin, cells};
    if (i < end) continue;
    // The words that follow are the same: a constant difference stays.
    const int32_t difference = constant_difference(cells, row(i).cells);
    if (difference != kInfinite) return distance() + difference;
  }
  return before.at(reference_.size());
}

}  // namespace heed::metrics
