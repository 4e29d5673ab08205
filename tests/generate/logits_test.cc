// Tokens chosen from the largest logits of a device, which are copied to the host alone, and from
// all logits.
#include "heed/generate/logits.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/random.h"
#include "heed/generate/beam.h"
#include "heed/generate/sampling_state.h"
#include "tests/kernels/test_gpu.h"

namespace heed::generate {
namespace {

constexpr int64_t kVocabulary = 300;

/// Logits [rows, V] with many equal ones, all at once if `levels` is 1.
Tensor logits_with_ties(int64_t rows, uint64_t step, int levels) {
  Tensor logits = Tensor::empty({rows, kVocabulary});
  for (int64_t i = 0; i < logits.elements(); ++i)
    logits.data<float>()[i] =
        std::floor(static_cast<float>(CounterRandom(7, step).uniform(static_cast<uint64_t>(i))) *
                   static_cast<float>(levels)) *
        0.25f;
  return logits;
}

/// The tokens that a request gets from random logits.
template <typename State>
std::vector<int32_t> tokens_of(State& state, Device* device, int levels) {
  std::vector<int32_t> tokens;
  for (uint64_t step = 0; !state.ended(); ++step) {
    const auto rows = static_cast<int64_t>(state.sequences().size());
    Logits logits(logits_with_ties(rows, step, levels).to(device), state.logits_needed(),
                  kVocabulary);
    logits.check();
    state.advance(logits);
    for (const Sequence& sequence : state.sequences()) tokens.push_back(sequence.tokens.back());
  }
  return tokens;
}

std::vector<TokenRules> rules_of_searches() {
  return {{.eos_ids = {1}},
          {.eos_ids = {1}, .bad_words = {{{0}, kForbiddenLogit}, {{2, 3}, kForbiddenLogit}}},
          {.eos_ids = {1}, .no_repeat_ngram_size = 1, .forced_bos_id = 5, .forced_eos_ids = {1}},
          {.eos_ids = {1}, .repetition_penalty = 1.5f, .min_new_tokens = 3},
          {.eos_ids = {1}, .sequence_bias = {{{9}, 0.5f}}},
          {.eos_ids = {1}, .bad_words = {{{4}, kForbiddenLogit}}, .renormalize_logits = true}};
}

TEST(Logits, ASearchFindsWithTheLargestOfADeviceWhatItFindsWithAll) {
  for (const TokenRules& rules : rules_of_searches())
    for (const int beams : {1, 2, 5, 30})
      for (const bool scores : {false, true})
        for (const int levels : {1, 4, 3000}) {
          SCOPED_TRACE(fmt::format("{} beams, {} levels, scores: {}", beams, levels, scores));
          const auto state = [&] {
            return BeamState({.num_beams = beams, .n_best = beams, .scores = scores},
                             {.prompt = {0}, .max_new_tokens = 6}, rules);
          };
          BeamState on_device = state(), on_host = state();
          EXPECT_EQ(tokens_of(on_device, &kernels::test_gpu(), levels),
                    tokens_of(on_host, nullptr, levels));
          const auto found = on_device.best(), expected = on_host.best();
          ASSERT_EQ(found.size(), expected.size());
          for (size_t i = 0; i < found.size(); ++i) {
            EXPECT_EQ(found[i].hypothesis.tokens, expected[i].hypothesis.tokens);
            EXPECT_NEAR(found[i].hypothesis.score, expected[i].hypothesis.score, 1e-5);
          }
        }
}

TEST(Logits, ASampleOfTheLargestOfADeviceIsThatOfAll) {
  const std::vector<SamplingOptions> all{
      {},
      {.repetition_penalty = 1.3f, .presence_penalty = 0.2f},
      {.logit_bias = {{7, 1.0f}}},
      {.temperature = 0.8f, .top_k = 5},
      {.logit_bias = {{7, -1.0f}}, .temperature = 2.0f, .top_k = 20, .top_p = 0.7f, .min_p = 0.01f},
      {.temperature = 1.0f, .top_k = 60},
      {.temperature = 1.0f, .top_p = 0.9f}};
  const GeneratorInput input{.prompt = {0}, .max_new_tokens = 40};
  for (const SamplingOptions& sampling : all)
    for (const int levels : {1, 4, 3000}) {
      GeneratorOptions options;
      options.sampling = sampling;
      options.rules.no_repeat_ngram_size = 2;
      SamplingState on_device(options, {}, input, 3), on_host(options, {}, input, 3);
      EXPECT_EQ(tokens_of(on_device, &kernels::test_gpu(), levels),
                tokens_of(on_host, nullptr, levels))
          << levels << " levels, top_k " << sampling.top_k;
    }
}

TEST(Logits, OfADeviceThatAreNotFiniteAreRefused) {
  for (const float wrong : {std::nanf(""), INFINITY}) {
    Tensor logits = logits_with_ties(2, 0, 4);
    logits.data<float>()[kVocabulary + 250] = wrong;
    Logits found(logits.to(&kernels::test_gpu()), {.largest = 4}, kVocabulary);
    found.slice(0, 1).check();
    EXPECT_THROW(found.check(), Error);
  }
}

}  // namespace
}  // namespace heed::generate
