#include "heed/train/losses/multi_vector_loss.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/train/losses/max_sim.h"

namespace heed::train {
namespace {

using data::VectorLoss;

std::vector<double> contrast_of_tokens(const TextPlaces& places, ComparedVectors& vectors) {
  std::vector<int32_t> queries;
  for (size_t i = 0; i < places.count(); ++i)
    queries.push_back(static_cast<int32_t>(places.begin(i)));
  const std::vector<int32_t> candidates = candidates_of(places);
  const MaxSim compared(places.groups_, vectors.x, queries, candidates);
  Tensor slopes = compared.scores().clone();
  std::vector<double> losses = contrast(places, places.groups_.options.scale, candidates, slopes);
  compared.add_gradients(slopes, vectors);
  return losses;
}

/// A loss of the scores of each query with its document and negatives.
template <typename Loss>
std::vector<double> of_own_texts(const TextPlaces& places, ComparedVectors& vectors,
                                 const Loss& loss) {
  std::vector<double> scores(places.groups_.texts.size()), slopes(scores.size());
  std::vector<MaxSim> compared;
  for (size_t i = 0; i < places.count(); ++i) {
    std::vector<int32_t> texts;
    for (size_t text = 1; text < places.texts(i); ++text)
      texts.push_back(static_cast<int32_t>(places.begin(i) + text));
    compared.emplace_back(places.groups_, vectors.x,
                          std::vector{static_cast<int32_t>(places.begin(i))}, texts);
    const auto own = compared.back().scores().template values<float>();
    std::ranges::copy(own, scores.begin() + static_cast<int64_t>(places.begin(i)) + 1);
  }
  std::vector<double> losses = loss(places, TextScores{scores, slopes});
  for (size_t i = 0; i < places.count(); ++i) {
    Tensor own = Tensor::empty(compared[i].scores().shape());
    for (size_t text = 1; text < places.texts(i); ++text)
      own.data<float>()[text - 1] = static_cast<float>(slopes[places.begin(i) + text]);
    compared[i].add_gradients(own, vectors);
  }
  return losses;
}

}  // namespace

std::vector<double> multi_vector_losses(const TextPlaces& places, ComparedVectors& vectors) {
  switch (places.groups_.options.loss) {
    case VectorLoss::infonce:
      return contrast_of_tokens(places, vectors);
    case VectorLoss::margin_mse:
      return of_own_texts(places, vectors, margin_mse);
    case VectorLoss::kl_divergence:
      return of_own_texts(places, vectors, kl_divergence);
    default:
      fail("there is no loss {} of a vector for each token", name_of(places.groups_.options.loss));
  }
}

}  // namespace heed::train
