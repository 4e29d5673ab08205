#include "heed/nn/disentangled.h"

#include <algorithm>
#include <numeric>

#include "heed/ops/embedding.h"

namespace heed::nn {
namespace {

constexpr float kDistanceDeviation = 0.02f;  // of new vectors

int64_t longest(const std::vector<int32_t>& offsets) {
  int64_t most = 1;
  for (size_t b = 0; b + 1 < offsets.size(); ++b)
    most = std::max<int64_t>(most, offsets[b + 1] - offsets[b]);
  return most;
}

}  // namespace

RelativeEmbeddings::RelativeEmbeddings(Parameters& parameters, const std::string& name,
                                       const DisentangledConfig& config, const Norm::Settings& norm)
    : distances_{config.buckets, config.max_distance},
      weight_(parameters.create(name + ".weight", {distances_.count(), norm.d_model},
                                Initializer::normal(kDistanceDeviation),
                                WeightRole::position_embedding)) {
  if (config.norm) norm_.emplace(parameters, name + "_layer_norm", norm);
}

RelativeStates RelativeEmbeddings::forward(Context& context,
                                           const std::vector<int32_t>& offsets) const {
  const int64_t reach = longest(offsets);
  std::vector<int32_t> rows;
  for (int64_t distance = 1 - reach; distance < reach; ++distance)
    rows.push_back(static_cast<int32_t>(distances_.row(distance)));
  std::vector<int32_t> used(static_cast<size_t>(rows.back() - rows.front() + 1));
  std::iota(used.begin(), used.end(), rows.front());
  for (int32_t& row : rows) row -= used.front();
  Tensor states = ops::embedding(context, {used, {}}, weight_, 1.0f, {});
  if (norm_) states = norm_->forward(context, states);
  return {.states = states,
          .rows = std::make_shared<const std::vector<int32_t>>(std::move(rows)),
          .offsets = std::make_shared<const std::vector<int32_t>>(offsets)};
}

}  // namespace heed::nn
