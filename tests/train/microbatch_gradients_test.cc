#include "heed/train/distributed/microbatch_gradients.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "heed/base/random.h"
#include "heed/data/pair_dataset.h"
#include "heed/train/optimizers/optimizer.h"
#include "tests/distribute/group_ranks.h"
#include "tests/train/tiny_model.h"

namespace heed::train {
namespace {

/// The parameters in the order in which a pass completes their gradients.
class CompletionOrder : public GradientHook {
 public:
  void before_use(const Parameter&, DType) override {}
  void before_lookup(const Parameter&, DType) override {}
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

/// The layers of parameters in their order, each once; tied embeddings and the head's bias are
/// outside of all.
std::vector<std::string> layers_of(const std::vector<const Parameter*>& order) {
  std::vector<std::string> names;
  for (const Parameter* const parameter : order) {
    const WeightPlace& place = parameter->place;
    const std::string name = fmt::format("{}.{}", static_cast<int>(place.stack), place.layer);
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

TEST(GradientBuckets, AreInTheOrderInWhichABackwardPassCompletesLayers) {
  for (const auto& [encoder, decoder] : {std::pair{3, 3}, {0, 6}, {4, 0}}) {
    model::Transformer model(layers(encoder, decoder), 1);
    Gradients gradients(model.parameters().all());
    std::vector<const Parameter*> sent;
    for (const GradientBucket& bucket :
         gradient_buckets(trained_parameters(model.parameters()), {.bytes = 10000}))
      for (const GradientBucket::Place& place : bucket.places) {
        sent.push_back(place.parameter);
        if (bucket.is_table()) gradients.keep_sparse(*place.parameter);
      }
    CompletionOrder completion;
    const std::vector<data::Batch> batches{small_batch()};
    accumulate_gradients(model, gradients, batches, {}, &completion);
    EXPECT_EQ(layers_of(sent), layers_of(completion.order));
    EXPECT_EQ(sent.front()->role, WeightRole::token_embedding);
    EXPECT_EQ(sent.size(), completion.order.size());
  }
}

TEST(GradientBuckets, HoldTokenEmbeddingsApart) {
  model::Transformer model(layers(1, 1), 1);
  const auto buckets = gradient_buckets(trained_parameters(model.parameters()), {});
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[0].places.size(), 1u);
  EXPECT_EQ(buckets[0].places[0].parameter->role, WeightRole::token_embedding);
}

/// All token embeddings of a model, if its head has a weight of its own.
std::vector<const Parameter*> only_looked_up(const model::Transformer& model) {
  std::vector<const Parameter*> tables;
  for (const Parameter& parameter : model.parameters().all())
    if (!model.config().tied_head && parameter.role == WeightRole::token_embedding)
      tables.push_back(&parameter);
  return tables;
}

TEST(GradientBuckets, HaveEmbeddingsThatAreOnlyLookedUpAtTheEnd) {
  model::ModelConfig config = layers(1, 1);
  config.tied_head = false;
  config.encoder_vocab_size = 40;
  model::Transformer model(config, 1);
  const std::vector<const Parameter*> tables = only_looked_up(model);
  ASSERT_EQ(tables.size(), 2u);
  const auto buckets =
      gradient_buckets(trained_parameters(model.parameters()), {.only_looked_up = tables});
  ASSERT_EQ(buckets.size(), 3u);
  EXPECT_FALSE(buckets[0].only_looked_up);
  EXPECT_TRUE(buckets[1].only_looked_up && buckets[1].is_table());
  EXPECT_TRUE(buckets[2].only_looked_up && buckets[2].is_table());
}

/// Gradients of a model on one of several ranks.
class OnRank : public MicrobatchGradients {
 public:
  OnRank(model::Transformer& model, distribute::Group& group, int64_t bucket_bytes)
      : MicrobatchGradients(
            model.parameters(), group,
            {.microbatches = 4, .pass_dtype = DType::bf16, .bucket_bytes = bucket_bytes}) {}

  std::function<void(const Parameter&)> on_complete = [](const Parameter&) {};
  std::function<void(const Parameter&)> on_use = [](const Parameter&) {};

 protected:
  void before_use(const Parameter& parameter, DType dtype) override {
    on_use(parameter);
    MicrobatchGradients::before_use(parameter, dtype);
  }
  void gradient_complete(const Parameter& parameter) override {
    on_complete(parameter);
    MicrobatchGradients::gradient_complete(parameter);
  }
};

constexpr int64_t kSmallBucket = 10000;

/// The bytes of a bucket's elements up to and without the one that holds a parameter.
int64_t bytes_before(const std::vector<GradientBucket>& buckets, const Parameter& parameter) {
  int64_t elements = 0;
  for (const GradientBucket& bucket : buckets) {
    for (const GradientBucket::Place& place : bucket.places)
      if (place.parameter == &parameter) return elements * int64_t{sizeof(float)};
    elements += bucket.elements;
  }
  return -1;
}

/// All buckets but that of the parameter that is complete last are sent before the pass is over.
void expect_sent_during_backward_pass(const model::ModelConfig& config) {
  const auto mailbox = std::make_shared<distribute::LocalMailbox>(2);
  distribute::run_groups(mailbox, [&](distribute::Group& group) {
    model::Transformer model(config, 1);
    const auto buckets =
        gradient_buckets(trained_parameters(model.parameters()), {.bytes = kSmallBucket});
    const int64_t before = mailbox->bytes();
    group.all_gather(std::array{0.0});  // until both have read the number of bytes
    OnRank gradients(model, group, kSmallBucket);
    const Parameter *first = nullptr, *last = nullptr;  // of a pass
    int passes = 0;
    gradients.on_complete = [&](const Parameter& parameter) {
      if (first == nullptr) first = &parameter;
      if (&parameter == first) ++passes;
      if (passes == 1) last = &parameter;
      if (passes < 2 || &parameter != last) return;
      // The pass of the second microbatch, which is the last, has not reported its last parameter
      // yet. Two ranks exchange halves.
      const int64_t expected = before + bytes_before(buckets, parameter);
      EXPECT_GT(expected, before);
      for (int wait = 0; wait < 1000 && mailbox->bytes() < expected; ++wait)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      EXPECT_GE(mailbox->bytes(), expected);
    };
    const std::vector<data::Batch> batches(4, small_batch());
    gradients.accumulate(model, batches, {.dtype = DType::bf16});
  });
}

TEST(MicrobatchGradients, AreSentDuringTheBackwardPass) {
  expect_sent_during_backward_pass(layers(3, 3));
}

TEST(MicrobatchGradients, AreSentDuringTheBackwardPassIfExpertsHaveNoTokens) {
  model::ModelConfig config = layers(3, 3);
  config.moe = {.n_experts = 16, .experts_per_token = 1, .d_expert = 8};
  expect_sent_during_backward_pass(config);
}

TEST(MicrobatchGradients, WaitForWeightsOnlyBeforeTheyAreRead) {
  const auto mailbox = std::make_shared<distribute::LocalMailbox>(2);
  distribute::run_groups(
      mailbox,
      [&](distribute::Group& group) {
        model::Transformer model(layers(3, 3), 1);
        OnRank gradients(model, group, kSmallBucket);
        gradients.on_use = [&](const Parameter& parameter) {
          if (parameter.place.layer == 1) mailbox->release();
        };
        if (group.is_root())
          mailbox->hold_after(4);  // enough for the embeddings and the first layer
        group.all_gather(std::array{0.0});
        gradients.begin_all_gather();
        const std::vector<data::Batch> batches(4, small_batch());
        gradients.accumulate(model, batches, {.dtype = DType::bf16});
      },
      {.wait = std::chrono::milliseconds(20'000), .answer = std::chrono::milliseconds(200)});
}

/// Which parameters have what ranks exchange in bf16.
int64_t in_bf16(const model::Transformer& model) {
  int64_t elements = 0;
  for (const Parameter& parameter : model.parameters().all())
    if (parameter.working.defined()) elements += parameter.shape.elements();
  return elements;
}

TEST(MicrobatchGradients, ShareTwoBytesOfAMatrixElementUntilTheWeightsAreRead) {
  const auto mailbox = std::make_shared<distribute::LocalMailbox>(2);
  distribute::run_groups(mailbox, [&](distribute::Group& group) {
    model::Transformer model(layers(1, 1), 1), other(layers(1, 1), 2);
    OnRank gradients(model, group, kSmallBucket);
    int64_t matrices = 0;
    for (const Parameter& parameter : model.parameters().all())
      if (parameter.shape.rank() > 1) matrices += parameter.shape.elements();
    // Each rank changes its parts to those of another model.
    for (const Shard& part : gradients.parts()) {
      const Tensor changed = part.of(other.parameters().named(part.parameter->name).value);
      Tensor own = part.of(part.parameter->value);
      copy_bytes(bytes_of_elements(changed), bytes_of_elements(own));
    }
    group.all_gather(std::array{0.0});
    gradients.begin_all_gather();
    const std::vector<data::Batch> batches(4, small_batch());
    gradients.accumulate(model, batches, {.dtype = DType::bf16});
    EXPECT_EQ(in_bf16(model), matrices);
    for (const Parameter& parameter : model.parameters().all()) {
      const Tensor expected = other.parameters().named(parameter.name).read(DType::bf16);
      EXPECT_TRUE(std::ranges::equal(bytes_of_elements(parameter.read(DType::bf16)),
                                     bytes_of_elements(expected)))
          << parameter.name;
    }
    gradients.complete_weights();
    EXPECT_EQ(in_bf16(model), 0);
    for (const Parameter& parameter : model.parameters().all())
      EXPECT_TRUE(std::ranges::equal(
          bytes_of_elements(parameter.value),
          bytes_of_elements(std::as_const(other.parameters().named(parameter.name).value))))
          << parameter.name;
  });
}

/// Pairs of which one has as many tokens as twenty others.
data::PairDataset uneven_pairs() {
  std::vector<data::Example> examples;
  const CounterRandom random(3);
  for (uint64_t i = 0; i < 40; ++i) {
    data::Example& one = examples.emplace_back();
    const uint64_t length = i % 8 == 0 ? 14 : 1 + random.below(i, 3);
    for (uint64_t t = 0; t < length; ++t) {
      one.source.push_back(static_cast<int32_t>(random.below(100 * i + t, 40)));
      one.target.push_back(static_cast<int32_t>(random.below(100 * i + t + 50, 40)));
    }
  }
  return data::PairDataset(std::move(examples), 1);
}

void expect_gradient_of_one_large_batch(const model::ModelConfig& config) {
  const data::PairDataset pairs = uneven_pairs();
  std::vector<int64_t> all;
  std::vector<data::Batch> microbatches;
  int64_t next = 0;
  for (const int64_t size : {1, 13, 2, 20}) {
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < size; ++i) indices.push_back(next++);
    all.insert(all.end(), indices.begin(), indices.end());
    microbatches.push_back(pairs.batch(indices, 0));
  }
  model::Transformer whole(config, 1);
  const auto at_once = make_step_gradients(whole.parameters());
  const StepLoss loss = at_once->accumulate(whole, {pairs.batch(all, 0)}, {});
  std::map<std::string, Tensor> expected;
  double squares = 0;
  for (const Parameter& parameter : whole.parameters().all()) {
    expected[parameter.name] = at_once->pass_gradients().of(parameter).tensor();
    for (const float x : expected[parameter.name].values<float>()) squares += double{x} * x;
  }
  for (const int ranks : {1, 2, 3, 4}) {
    std::mutex mutex;
    double difference = 0;
    distribute::run_groups(std::make_shared<distribute::LocalMailbox>(ranks), [&](auto& group) {
      model::Transformer model(config, 1);
      const auto gradients = make_step_gradients(
          model.parameters(), group,
          {.microbatches = 4, .only_looked_up = only_looked_up(model), .bucket_bytes = 10000});
      const StepLoss of_microbatches = gradients->accumulate(model, microbatches, {});
      EXPECT_NEAR(of_microbatches.loss.mean(), loss.loss.mean(), 1e-6 * loss.loss.mean());
      EXPECT_NEAR(gradients->norm(), std::sqrt(squares), 1e-6 * std::sqrt(squares));
      const std::vector<Tensor> own = gradients->take();
      const std::lock_guard lock(mutex);
      for (size_t i = 0; i < own.size(); ++i) {
        const Shard& part = gradients->parts()[i];
        const Tensor other = part.of(expected.at(part.parameter->name));
        for (int64_t j = 0; j < part.elements(); ++j)
          difference += std::pow(double{own[i].data<float>()[j]} - other.data<float>()[j], 2);
      }
    });
    EXPECT_LT(std::sqrt(difference / squares), 1e-6) << ranks << " ranks";
  }
}

TEST(MicrobatchGradients, OfUnevenBatchesAreThatOfOneLargeBatch) {
  expect_gradient_of_one_large_batch(layers(2, 2));
}

TEST(MicrobatchGradients, OfEmbeddingsThatAreOnlyLookedUpAreThatOfOneLargeBatch) {
  model::ModelConfig config = layers(2, 2);
  config.tied_head = false;
  config.encoder_vocab_size = 50;
  config.d_model = 20;  // so that shards divide rows
  expect_gradient_of_one_large_batch(config);
}

/// A model of 1.3 million parameters.
model::ModelConfig larger_model() {
  model::ModelConfig config = layers(2, 2);
  config.vocab_size = 2000;
  config.d_model = 128;
  config.d_ff = 512;
  return config;
}

/// Bytes of the moments of a rank.
int64_t moment_bytes(const ShardedBuckets& buckets, OptimizerKind kind) {
  const Optimizer optimizer(buckets.parts(), {.kind = kind});
  int64_t bytes = 0;
  for (const auto& moments : optimizer.state().moments)
    for (const Optimizer::Moment& moment : moments) bytes += moment.tensor.bytes();
  return bytes;
}

TEST(ShardedBuckets, HaveEqualPartsOfTheMomentsOfAdam) {
  model::Transformer model(larger_model(), 1);
  const double parameters = static_cast<double>(model.parameters().count());
  const auto trained = trained_parameters(model.parameters());
  for (const int ranks : {2, 4, 8})
    for (int rank = 0; rank < ranks; ++rank) {
      const ShardedBuckets buckets(
          gradient_buckets(trained, {.pieces = 8, .bytes = int64_t{1} << 20}), rank, ranks);
      EXPECT_LE(static_cast<double>(moment_bytes(buckets, OptimizerKind::adam)),
                8 * parameters / ranks * 1.02)
          << "rank " << rank << " of " << ranks;
    }
}

TEST(ShardedBuckets, WithWholeMatricesHaveAtMostOneMatrixOfABucketMore) {
  model::Transformer model(larger_model(), 1);
  const auto trained = trained_parameters(model.parameters());
  for (const int ranks : {2, 4, 8})
    for (int rank = 0; rank < ranks; ++rank) {
      const ShardedBuckets buckets(
          gradient_buckets(trained,
                           {.pieces = 8, .keep_matrices = true, .bytes = int64_t{1} << 20}),
          rank, ranks);
      for (size_t i = 0; i < buckets.count(); ++i) {
        int64_t largest = 0;
        for (const GradientBucket::Place& place : buckets[i].places)
          largest = std::max(largest, place.end() - place.begin);
        const auto [begin, end] = buckets.shard(i, rank);
        EXPECT_LE(end - begin, buckets[i].elements / ranks + largest + 64);
      }
    }
}

}  // namespace
}  // namespace heed::train
