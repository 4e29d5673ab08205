#include "heed/train/checkpoints/token_projection.h"

#include <algorithm>

namespace heed::train {
namespace {

template <typename Parameters>
auto* find_projection(Parameters& all) {
  const auto found = std::ranges::find(all, WeightRole::token_projection, &Parameter::role);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

void add_token_projection(model::Transformer& model, int64_t width) {
  model.parameters().create("token_projection.weight", {width, model.config().d_model},
                            nn::Initializer::xavier(), WeightRole::token_projection);
}

const Parameter* find_token_projection(const model::Transformer& model) {
  return find_projection(model.parameters().all());
}

Parameter* find_token_projection(model::Transformer& model) {
  return find_projection(model.parameters().all());
}

}  // namespace heed::train
