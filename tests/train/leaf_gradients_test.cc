#include "heed/train/leaf_gradients.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <thread>

#include "heed/data/translation_batches.h"
#include "heed/train/optimizer.h"
#include "tests/distribute/local_ranks.h"
#include "tests/train/tiny_model.h"

namespace heed::train {
namespace {

/// The parameters in the order in which a pass completes their gradients.
class CompletionOrder : public ParameterWatch {
 public:
  void gradient_complete(const Parameter& parameter) override { order.push_back(&parameter); }
  std::vector<const Parameter*> order;
};

model::ModelConfig layers(int64_t encoder, int64_t decoder) {
  model::ModelConfig config = testing::tiny_model();
  config.encoder_layers = encoder;
  config.decoder_layers = decoder;
  return config;
}

data::Batch small_batch() {
  return {.source = {1, 2},
          .source_offsets = {0, 2},
          .decoder_input = {4, 5},
          .target_offsets = {0, 2},
          .target = {5, 6},
          .rows = {},
          .examples = {}};
}

/// The layers of parameters in their order, each once; without token embeddings.
std::vector<std::string> layers_of(const std::vector<const Parameter*>& order) {
  std::vector<std::string> names;
  for (const Parameter* const parameter : order) {
    const WeightPlace& place = parameter->place;
    const std::string name = fmt::format("{}.{}", static_cast<int>(place.stack), place.layer);
    if (parameter->role != WeightRole::token_embedding && (names.empty() || names.back() != name))
      names.push_back(name);
  }
  return names;
}

TEST(GradientBuckets, AreInTheOrderInWhichABackwardPassCompletesLayers) {
  for (const auto& [encoder, decoder] : {std::pair{3, 3}, {0, 6}, {4, 0}}) {
    model::Transformer model(layers(encoder, decoder), 1);
    Gradients gradients(model.parameters().all());
    CompletionOrder completion;
    const std::vector<data::Batch> batches{small_batch()};
    accumulate_gradients(model, gradients, batches, {}, &completion);
    std::vector<const Parameter*> sent;
    for (const GradientBucket& bucket :
         gradient_buckets(trained_parameters(model.parameters()), {.bytes = 10000}))
      for (const GradientBucket::Place& place : bucket.places) sent.push_back(place.parameter);
    EXPECT_EQ(layers_of(sent), layers_of(completion.order));
    EXPECT_EQ(sent.back()->role, WeightRole::token_embedding);
    EXPECT_EQ(sent.size(), completion.order.size());
  }
}

TEST(GradientBuckets, HoldTokenEmbeddingsApart) {
  model::Transformer model(layers(1, 1), 1);
  const auto buckets = gradient_buckets(trained_parameters(model.parameters()), {});
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[1].places.size(), 1u);
  EXPECT_EQ(buckets[1].places[0].parameter->role, WeightRole::token_embedding);
}

}  // namespace
}  // namespace heed::train
