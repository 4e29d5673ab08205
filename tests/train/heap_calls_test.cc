// Counts the heap allocations of a steady state, by replacing operator new.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "heed/generate/generator.h"
#include "heed/train/optimizers/optimizer.h"
#include "heed/train/step_gradients.h"
#include "tests/generate/small_decoder.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEED_COUNTS_HEAP_CALLS 0  // sanitizers replace the operators themselves
#else
#define HEED_COUNTS_HEAP_CALLS 1
#endif

namespace {
std::atomic<int64_t> heap_calls{0};
}

#if HEED_COUNTS_HEAP_CALLS
void* operator new(size_t bytes) {
  heap_calls.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

namespace heed::train {
namespace {

int64_t calls_of_decoding(const model::Transformer& model, int64_t tokens) {
  const generate::Generator generator(model, std::nullopt, {.max_new_tokens = tokens});
  const int64_t before = heap_calls;
  EXPECT_EQ(generator.generate({{3, 5, 7}}).front().tokens.size(), static_cast<size_t>(tokens));
  return heap_calls - before;
}

TEST(HeapCalls, ADecodingStepMakesNone) {
  if (!HEED_COUNTS_HEAP_CALLS) GTEST_SKIP() << "a sanitizer has operators of its own";
  model::ModelConfig config = generate::small_decoder();
  config.decoder_layers = 4;
  config.n_kv_heads = 2;
  config.max_positions = 512;
  const model::Transformer model(config, 1);
  calls_of_decoding(model, 100);
  const int64_t fewer = calls_of_decoding(model, 100), more = calls_of_decoding(model, 300);
  // Vectors grow a few times.
  EXPECT_LE(more - fewer, 40) << "in 200 steps";
}

/// The number of allocations of a step after several others.
int64_t calls_of_training(int64_t layers) {
  model::ModelConfig config;
  config.vocab_size = 96;
  config.d_model = 64;
  config.encoder_layers = config.decoder_layers = layers;
  config.n_heads = 4;
  config.d_ff = 96;
  config.max_positions = 64;
  model::Transformer model(config, 1);
  const auto gradients = make_step_gradients(model.parameters());
  Optimizer optimizer(gradients->parts(), {});
  const std::vector<int32_t> ids(60, 7), offsets{0, 20, 40, 60}, targets(60, 9);
  int64_t calls = 0;
  for (int i = 0; i < 4; ++i) {
    const int64_t before = heap_calls;
    Tape tape(gradients->pass_gradients());
    Context context{.tape = &tape, .dtype = DType::bf16, .dropout_seed = 1};
    model.loss(context, {ids, offsets}, {ids, offsets}, targets, {.label_smoothing = 0.1f});
    tape.backward();
    EXPECT_GT(gradients->norm(), 0.0);
    optimizer.step(gradients->take(), 1e-3, 1.0);
    calls = heap_calls - before;
  }
  return calls;
}

TEST(HeapCalls, ATrainingStepMakesFewForAnyNumberOfLayers) {
  if (!HEED_COUNTS_HEAP_CALLS) GTEST_SKIP() << "a sanitizer has operators of its own";
  const int64_t of_few = calls_of_training(1), of_many = calls_of_training(5);
  EXPECT_LE(of_many, 30);  // lists of the batch, its loss and its parameters
  EXPECT_EQ(of_many, of_few);
}

}  // namespace
}  // namespace heed::train
