#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/data/text_groups.h"
#include "heed/tensor/tensor.h"

namespace heed::train {

/// Where the texts of the examples are.
struct TextPlaces {
  explicit TextPlaces(const data::TextGroups& groups) : groups_(groups) {}
  size_t count() const { return static_cast<size_t>(groups_.count()); }
  size_t begin(size_t example) const { return static_cast<size_t>(groups_.offsets[example]); }
  size_t texts(size_t example) const { return begin(example + 1) - begin(example); }
  double score(size_t example, size_t number = 0) const {
    const size_t place = example * static_cast<size_t>(groups_.score_count) + number;
    return static_cast<double>(groups_.scores[place]);
  }
  const data::TextGroups& groups_;
};

/// The losses of scores of queries and candidates, whatever compares these.

/// The documents of all examples, and then their negatives: the texts that are compared with each
/// query. Candidate i is the document of example i.
std::vector<int32_t> candidates_of(const TextPlaces& places);

/// -log softmax(scale * scores)_i of the query of example i, for scores [E, M] of all candidates,
/// which become the gradients of the mean by them.
std::vector<double> contrast(const TextPlaces& places, double scale,
                             const std::vector<int32_t>& candidates, Tensor& scores);

/// Of the scores of each text and the query of its example, [T]; those of queries are not read. The
/// gradient of the mean by a text's score is written to `slopes` [T], for queries 0.
struct TextScores {
  std::span<const double> scores;
  std::span<double> slopes;
};

/// (document's score - negative's score - known difference)^2, the mean over an example's
/// negatives.
std::vector<double> margin_mse(const TextPlaces& places, const TextScores& texts);

/// T^2 sum of p (log p - log q) over the candidates of a query, its document and negatives: p the
/// softmax of a teacher's scores, q that of the scores divided by the temperature T.
std::vector<double> kl_divergence(const TextPlaces& places, const TextScores& texts);

}  // namespace heed::train
