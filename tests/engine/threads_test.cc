// Threads and sessions that share a model get, bit by bit, what each gets alone.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "heed/session.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

const std::vector<std::string> kManyTexts{"the old sailor", "the", "sea and ship",   "in the",
                                          "went out",       "old", "the sea is the", "ship"};

/// Runs a function for 0 to `count` - 1, each on a thread of its own. They start together.
void on_threads(int count, const std::function<void(int)>& body) {
  std::atomic<int> waiting = count;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      for (--waiting; waiting > 0;) std::this_thread::yield();
      body(i);
    });
  for (std::thread& thread : threads) thread.join();
}

/// What is compared of an output: its tokens and the log-probability of each.
struct Bits {
  std::vector<int32_t> tokens;
  std::vector<double> log_probabilities;

  friend bool operator==(const Bits&, const Bits&) = default;
};

Bits bits_of(const Generation& generation) {
  Bits bits{.tokens = generation.tokens, .log_probabilities = {}};
  for (const TokenLogProbability& token : generation.chosen)
    bits.log_probabilities.push_back(token.log_probability);
  return bits;
}

/// Half of the requests are sampled.
GenerateOptions options_of(int number) {
  return {.max_new_tokens = 16,
          .sample = number % 2 == 1,
          .seed = static_cast<uint64_t>(number),
          .top_log_probabilities = 1};
}

Bits alone(const Model& model, int number) {
  return bits_of(model.generate(kManyTexts[number], options_of(number)));
}

std::vector<Bits> all_alone(const Model& model) {
  std::vector<Bits> all;
  for (int i = 0; i < std::ssize(kManyTexts); ++i) all.push_back(alone(model, i));
  return all;
}

TEST(Threads, EightOnOneModelGetWhatEachGetsAlone) {
  const Model decoder = Model::load(models().decoder());
  const Model encoder = Model::load(models().encoder());
  const Model translator = Model::load(models().translator());
  const std::vector<Bits> expected = all_alone(decoder);
  std::vector<std::vector<float>> vectors;
  std::vector<std::string> translations;
  for (const std::string& text : kManyTexts) {
    vectors.push_back(encoder.embed(text));
    translations.push_back(translator.translate(text).text());
  }
  ASSERT_FALSE(expected[0].log_probabilities.empty());
  ASSERT_NE(expected[0], expected[1]);
  std::atomic<int> wrong = 0;
  on_threads(8, [&](int thread) {
    for (int repeat = 0; repeat < 8; ++repeat) {
      const int number = (thread + repeat) % 8;
      wrong += alone(decoder, number) != expected[number];
      wrong += encoder.embed(kManyTexts[number]) != vectors[number];
      wrong += translator.translate(kManyTexts[number]).text() != translations[number];
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, FourSessionsAtOnceGetWhatEachRequestGetsAlone) {
  const Model model = Model::load(models().decoder());
  const std::vector<Bits> expected = all_alone(model);
  std::atomic<int> wrong = 0, ended = 0;
  on_threads(4, [&](int thread) {
    Session session(model, {.max_active_requests = 2 + thread, .max_prefill_tokens = 2 + thread});
    for (int i = 0; i < 8; ++i) {
      const int number = (i + thread) % 8;
      session.add({.prompt = kManyTexts[number], .options = options_of(number)},
                  [&, number](const Delta& delta) {
                    if (!delta.generation) return true;
                    ++ended;
                    wrong += bits_of(*delta.generation) != expected[number];
                    return true;
                  });
    }
    while (session.step()) {
    }
  });
  EXPECT_EQ(ended, 32);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace heed::engine
