#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heed::metrics {

/// Levenshtein distances between one reference and hypotheses of one length, in the cells near the
/// diagonal alone, as sacrebleu's TER defines them. Keeps the rows of one hypothesis, so that
/// others which differ from it in some words are computed from there.
class BeamEditDistance {
 public:
  enum class Edit : uint8_t { none, substitution, insertion, deletion };

  /// `reference` and `hypothesis` are ids of words. The spans must outlive this.
  BeamEditDistance(std::span<const int32_t> reference, std::span<const int32_t> hypothesis);

  /// The distance of the hypothesis.
  int32_t distance() const;
  /// The edits that make the reference of the hypothesis, from the first word on: a deletion takes
  /// away a word of the hypothesis, an insertion adds one of the reference.
  std::vector<Edit> edits() const;

  /// The distance of `changed`, the hypothesis with other words in [begin, end); any number above
  /// `limit` if the distance is above it.
  int32_t distance_of(std::span<const int32_t> changed, size_t begin, size_t end, int32_t limit);

 private:
  /// Cells [begin, begin + width) of a row; the others are kInfinite.
  struct Band {
    size_t begin = 0, width = 0, offset = 0;  // offset: where the cells are in cells_
  };
  struct Row {
    size_t begin = 0;
    std::span<const int32_t> cells;
    int32_t at(size_t j) const;
  };

  Band band_of(size_t row) const;
  Row row(size_t i) const;
  /// Computes cells of `band` from the row before, for a word of the hypothesis. Returns their
  /// minimum.
  int32_t fill(const Row& before, const Band& band, int32_t word, std::span<int32_t> cells) const;

  std::span<const int32_t> reference_, hypothesis_;
  std::vector<Band> bands_;     // of rows 0, ..., hypothesis_.size()
  std::vector<int32_t> cells_;  // of all bands
  std::vector<int32_t> scratch_[2];
};

}  // namespace heed::metrics
