#include "heed/generate/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/generate/beam.h"
#include "heed/kernels/softmax.h"
#include "tests/base/threads.h"

namespace heed::generate {
namespace {

model::ModelConfig small_config() {
  model::ModelConfig config;
  config.vocab_size = 40;
  config.d_model = 16;
  config.encoder_layers = config.decoder_layers = 2;
  config.n_heads = 4;
  config.d_ff = 32;
  config.max_positions = 64;
  return config;
}

/// A model whose outputs vary and sometimes end early.
model::Transformer& varied_model() {
  static model::Transformer model(small_config(), 5);
  static const bool scaled = [] {
    Tensor& table = model.parameters().named("model.shared.weight").value;
    for (int64_t i = 0; i < table.elements(); ++i) table.data<float>()[i] *= 3;
    model.parameters().named("final_logits_bias").value.data<float>()[1] = 4.0f;
    return true;
  }();
  (void)scaled;
  return model;
}

using Sources = std::vector<std::vector<int32_t>>;

Sources random_sources(int count) {
  Sources sources;
  const CounterRandom random(9);
  uint64_t counter = 0;
  for (int i = 0; i < count; ++i) {
    const uint64_t length = 1 + random.below(counter++, 9);
    std::vector<int32_t> source;
    for (uint64_t j = 0; j < length; ++j)
      source.push_back(static_cast<int32_t>(3 + random.below(counter++, 37)));
    source.push_back(1);
    sources.push_back(std::move(source));
  }
  return sources;
}

/// Greedy decoding by definition: a full forward pass for each token.
std::vector<int32_t> greedy_without_cache(const model::Transformer& model,
                                          const std::vector<int32_t>& source, int64_t longest) {
  Context context;
  const std::vector<int32_t> source_offsets{0, static_cast<int32_t>(source.size())};
  const model::Memory memory = model.encode(context, {source, source_offsets});
  std::vector<int32_t> input{model.config().decoder_start_id};
  while (static_cast<int64_t>(input.size()) <= longest) {
    const std::vector<int32_t> offsets{0, static_cast<int32_t>(input.size())};
    const Tensor states = model.decode_all(context, {input, offsets}, memory);
    const Tensor logits = model.logits(context, states.row_slice(states.rows() - 1, states.rows()));
    const auto row = logits.values<float>();
    const auto best = static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
    if (best == model.config().eos_id) break;
    input.push_back(best);
  }
  return {input.begin() + 1, input.end()};
}

TEST(Search, GreedyDecodingEqualsFullForwardPasses) {
  const Sources sources = random_sources(20);
  const auto found = search(varied_model(), DType::f32, sources, {});
  for (size_t b = 0; b < found.size(); ++b) {
    const auto longest = std::min<int64_t>(std::ssize(sources[b]) + 50, 64);
    EXPECT_EQ(found[b].front().tokens, greedy_without_cache(varied_model(), sources[b], longest));
  }
}

TEST(Search, AResultDoesNotDependOnTheBatchOrTheThreads) {
  const Sources sources = random_sources(500);
  for (const int beam : {1, 4}) {
    const SearchOptions options{.num_beams = beam, .n_best = beam};
    const auto batched = search(varied_model(), DType::f32, sources, options);
    const Threads other(thread_count() == 1 ? 2 : 1);
    for (size_t b = 0; b < batched.size(); ++b) {
      const auto alone = search(varied_model(), DType::f32, {sources[b]}, options).front();
      ASSERT_EQ(alone.size(), batched[b].size());
      for (size_t i = 0; i < alone.size(); ++i) {
        EXPECT_EQ(alone[i].tokens, batched[b][i].tokens) << "sentence " << b;
        EXPECT_EQ(alone[i].score, batched[b][i].score) << "sentence " << b;
      }
    }
  }
}

TEST(Search, BeamSearchFindsMoreProbableOutputsThanGreedyAndSortsThem) {
  const Sources sources = random_sources(50);
  const SearchOptions wide{.num_beams = 8, .n_best = 8, .length_penalty = 0.0f};
  const auto greedy = search(varied_model(), DType::f32, sources, {.length_penalty = 0.0f});
  const auto beam = search(varied_model(), DType::f32, sources, wide);
  int better = 0;
  for (size_t b = 0; b < beam.size(); ++b) {
    better += beam[b].front().score > greedy[b].front().score - 1e-6;
    for (size_t i = 1; i < beam[b].size(); ++i) EXPECT_GE(beam[b][i - 1].score, beam[b][i].score);
  }
  EXPECT_GE(better, 47);  // beam search may lose the greedy path, but rarely
}

TEST(Search, ScoresAreTheLogProbabilitiesUnderTheModel) {
  const Sources sources = random_sources(40);
  int compared = 0;
  const auto found =
      search(varied_model(), DType::f32, sources, {.num_beams = 4, .length_penalty = 0.6f});
  for (size_t b = 0; b < found.size(); ++b) {
    const Hypothesis& hypothesis = found[b].front();
    const auto length =
        static_cast<double>(hypothesis.tokens.size() + (hypothesis.complete ? 1 : 0));
    EXPECT_NEAR(hypothesis.score, hypothesis.log_probability / std::pow((5 + length) / 6, 0.6),
                1e-5);
    Context context;
    const std::vector<int32_t>& source = sources[b];
    // A hypothesis at the length limit has no end of sequence, unlike the target of the loss.
    EXPECT_EQ(hypothesis.complete, hypothesis.tokens.size() < source.size() + 50);
    if (!hypothesis.complete) continue;
    ++compared;
    const std::vector<int32_t> source_offsets{0, static_cast<int32_t>(source.size())};
    std::vector<int32_t> input{0}, target = hypothesis.tokens;
    input.insert(input.end(), target.begin(), target.end());
    target.push_back(1);
    const std::vector<int32_t> offsets{0, static_cast<int32_t>(input.size())};
    const ops::Loss loss =
        varied_model().loss(context, {source, source_offsets}, {input, offsets}, target, {});
    EXPECT_NEAR(hypothesis.log_probability, -loss.negative_log_likelihood, 1e-3);
  }
  EXPECT_GT(compared, 5);
}

TEST(Search, GreedyWithoutScoresFindsTheSameTokens) {
  const Sources sources = random_sources(100);
  const auto scored = search(varied_model(), DType::f32, sources, {});
  const auto plain = search(varied_model(), DType::f32, sources, {.scores = false});
  for (size_t b = 0; b < scored.size(); ++b) {
    ASSERT_EQ(plain[b].size(), 1u);
    EXPECT_EQ(plain[b].front().tokens, scored[b].front().tokens);
    EXPECT_EQ(plain[b].front().score, 0.0);
  }
}

TEST(Search, RefusesOptionsOutOfRange) {
  const Sources sources = random_sources(1);
  EXPECT_THROW(search(varied_model(), DType::f32, sources, {.num_beams = 0}), Error);
  EXPECT_THROW(search(varied_model(), DType::f32, sources, {.num_beams = 2, .n_best = 3}), Error);
  EXPECT_THROW(search(varied_model(), DType::f32, sources,
                      {.length_penalty = std::numeric_limits<float>::quiet_NaN()}),
               Error);
  EXPECT_THROW(search(varied_model(), DType::f32, sources,
                      {.max_new_tokens_over_source = std::numeric_limits<int64_t>::max()}),
               Error);
  for (const int64_t count : {int64_t{0}, std::numeric_limits<int64_t>::max()})
    EXPECT_THROW(search(varied_model(), DType::f32, sources, {.max_new_tokens = count}), Error);
}

TEST(Search, OptionsLimitTheNumberOfNewTokens) {
  const Sources sources = random_sources(40);
  const auto lengths = [&](const SearchOptions& options) {
    std::vector<int64_t> counts;
    for (const auto& found : search(varied_model(), DType::f32, sources, options))
      counts.push_back(std::ssize(found.front().tokens));
    return counts;
  };
  const auto free = lengths({});
  const auto absolute = lengths({.max_new_tokens = 7});
  const auto relative = lengths({.max_new_tokens_over_source = 2});
  int cut = 0;
  for (size_t b = 0; b < free.size(); ++b) {
    const int64_t source = std::ssize(sources[b]);
    EXPECT_EQ(absolute[b], std::min<int64_t>(free[b], 7));
    EXPECT_EQ(relative[b], std::min(free[b], source + 2));
    cut += free[b] > 7 && free[b] > source + 2;
  }
  EXPECT_GT(cut, 0);
}

/// One step with the log-probabilities [sequences, V] of all tokens.
bool advance(Beam& beam, std::vector<float> log_probabilities) {
  const size_t count = beam.sequences().size(), classes = log_probabilities.size() / count;
  std::vector<TokenLogits> rows;
  for (size_t i = 0; i < count; ++i)
    rows.emplace_back(std::span(log_probabilities).subspan(i * classes, classes));
  return beam.advance(rows);
}

TEST(Beam, EndsOnceNumBeamsHypothesesAreFinished) {
  Beam beam({.num_beams = 2, .n_best = 2, .length_penalty = 0.0f}, {0}, 10);
  advance(beam, std::vector<float>{-0.1f, -3.0f, -4.0f});
  ASSERT_FALSE(beam.sequences().empty());
  advance(beam, std::vector<float>{-0.1f, -9.0f, -9.0f, -9.0f, -9.0f, -9.0f});
  EXPECT_TRUE(beam.sequences().empty());
  const auto best = beam.best();
  ASSERT_EQ(best.size(), 2u);
  EXPECT_TRUE(best[0].hypothesis.tokens.empty());
  EXPECT_EQ(best[1].hypothesis.tokens, (std::vector<int32_t>{1}));
}

TEST(Beam, ScoresTheTokensThatAHypothesisHasItsEndIncluded) {
  const SearchOptions options{.num_beams = 2, .n_best = 2, .length_penalty = 2.0f};
  Beam beam(options, {0}, 2);
  advance(beam, std::vector<float>{-1.0f, -2.0f, -9.0f, -9.0f});
  ASSERT_EQ(beam.sequences().size(), 2u);
  const auto score = [](double log_probability, double tokens) {
    return log_probability / std::pow((5 + tokens) / 6, 2.0);
  };
  advance(beam, std::vector<float>{-9.0f, -9.0f, -1.0f, -9.0f, -9.0f, -9.0f, -9.0f, -9.0f});
  const auto best = beam.best();
  ASSERT_EQ(best.size(), 2u);
  EXPECT_TRUE(best[0].hypothesis.tokens.empty());
  EXPECT_DOUBLE_EQ(best[0].hypothesis.score, score(-1, 1));
  EXPECT_TRUE(best[0].hypothesis.complete);
  EXPECT_EQ(best[1].hypothesis.tokens, (std::vector<int32_t>{1, 2}));  // the limit ended it
  EXPECT_DOUBLE_EQ(best[1].hypothesis.score, score(-3, 2));
  EXPECT_FALSE(best[1].hypothesis.complete);
}

TEST(Beam, DoesNotKeepForbiddenTokens) {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  Beam beam({.num_beams = 2, .n_best = 2, .length_penalty = 0.0f}, {0}, 10);
  advance(beam, std::vector<float>{kNever, kNever, -1.0f, kNever});
  ASSERT_EQ(beam.sequences().size(), 1u);
  EXPECT_EQ(beam.sequences().front().tokens, std::vector<int32_t>{2});
  Beam copy = beam;
  EXPECT_THROW(advance(copy, std::vector<float>(4, kNever)), Error);
  advance(beam, std::vector<float>{-1.0f, kNever, kNever, kNever});
  EXPECT_TRUE(beam.sequences().empty());
  EXPECT_EQ(beam.best().size(), 1u);
}

TEST(Beam, DoesNothingIfATokenThatIsNotKnownMightBeAmongTheBest) {
  Beam beam({.num_beams = 2, .n_best = 2}, {0}, 10);
  const std::vector<int32_t> tokens{7, 5, 3, 2, -1};
  const auto known = [&](std::vector<float>& values, float bound) {
    return TokenLogits(values, tokens, bound);
  };
  std::vector<float> values{-0.5f, -1.0f, -2.0f, -4.0f, -4.0f};  // four are enough for two beams
  for (const float bound : {-4.0f, -3.5f}) {
    EXPECT_FALSE(beam.advance(std::vector{known(values, bound)})) << bound;
    EXPECT_TRUE(beam.sequences().front().tokens.empty());
  }
  EXPECT_TRUE(beam.advance(std::vector{known(values, -4.5f)}));
  ASSERT_EQ(beam.sequences().size(), 2u);
  EXPECT_EQ(beam.sequences()[0].tokens, std::vector<int32_t>{7});
  EXPECT_EQ(beam.sequences()[1].tokens, std::vector<int32_t>{5});
}

TEST(Beam, AppendsTokensUntilAnEndTokenOrTheLimit) {
  Beam beam({}, {0}, 3);
  beam.append(5);
  beam.append(7);
  ASSERT_FALSE(beam.sequences().empty());
  Beam longest = beam;
  beam.append(0);
  EXPECT_TRUE(beam.sequences().empty());
  EXPECT_EQ(beam.best().front().hypothesis.tokens, (std::vector<int32_t>{5, 7}));
  longest.append(9);
  EXPECT_TRUE(longest.sequences().empty());
  EXPECT_EQ(longest.best().front().hypothesis.tokens, (std::vector<int32_t>{5, 7, 9}));
}

}  // namespace
}  // namespace heed::generate
