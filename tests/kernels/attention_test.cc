#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "tests/kernels/attention_problem.h"

namespace heed::kernels {
namespace {

/// Cases with windows, soft caps and relative biases.
std::vector<AttentionCase> score_cases() {
  std::vector<AttentionCase> list;
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const auto add = [&](const std::string& name, const Offsets& q, const Offsets& kv,
                         AttentionCase c) {
      c.name = name;
      c.q_lengths = q;
      c.kv_lengths = kv;
      c.dtype = dtype;
      list.push_back(c);
    };
    const AttentionCase causal{.n_heads = 4, .n_kv_heads = 2, .d = 32, .dv = 24, .causal = true};
    for (const int64_t window : {1, 7, 64, 65, 100})
      for (const bool mask : {true, false}) {
        const std::string suffix =
            " window " + std::to_string(window) + (mask ? "" : " on both sides");
        AttentionCase c = causal;
        c.causal = mask;
        c.window = window;
        add("self" + suffix, {1, 17, 70, 200}, {1, 17, 70, 200}, c);
        add("fewer queries than keys" + suffix, {1, 6, 40}, {130, 200, 41}, c);
        add("more queries than keys" + suffix, {20, 90}, {5, 70}, c);
        c.n_heads = c.n_kv_heads = 1;
        add("alone" + suffix, {450}, {450}, c);  // rows and keys become separate tasks
        add("decode" + suffix, {3}, {1200}, c);  // which share the keys (split-KV)
        c.dropout = 0.2f;
        add("dropout" + suffix, {90, 3}, {90, 3}, c);
      }
    for (const bool mask : {false, true}) {
      const std::string suffix = mask ? " causal" : "";
      AttentionCase c{.n_heads = 4, .n_kv_heads = 4, .d = 32, .dv = 32, .causal = mask};
      c.soft_cap = 1.5f;
      add("soft cap" + suffix, {17, 70, 1}, {17, 70, 30}, c);
      c.reach = 9;
      add("soft cap and bias" + suffix, {17, 70, 1}, {17, 70, 30}, c);
      c.soft_cap = 0.0f;
      for (const int64_t reach : {2, 40, 300}) {
        c.reach = reach;
        add("bias " + std::to_string(reach) + suffix, {130, 1, 33}, {130, 90, 33}, c);
      }
      c.n_heads = 2, c.n_kv_heads = 1, c.reach = 20;
      add("bias alone" + suffix, {210}, {210}, c);
      add("bias of beams that share keys" + suffix, {2, 2}, {30, 30}, c);
      c.gathered = true;
      add("bias gathered" + suffix, {3, 9}, {25, 70}, c);
    }
    AttentionCase pairs{.n_heads = 3, .n_kv_heads = 3, .d = 32, .dv = 24, .dropout = 0.1f};
    pairs.pairs = true;
    add("a bias of each pair", {17, 1, 210}, {17, 1, 210}, pairs);
    add("a bias of each pair alone", {250}, {250}, pairs);
    AttentionCase all = causal;
    all.pairs = true;
    all.window = 33, all.soft_cap = 2.0f, all.reach = 12, all.dropout = 0.1f;
    add("everything", {100, 7}, {120, 7}, all);
    all.sinks = true;
    add("everything and sinks", {100, 7}, {120, 7}, all);
    AttentionCase sinks{.n_heads = 4, .n_kv_heads = 2, .d = 64, .dv = 32, .causal = true};
    sinks.sinks = true;
    add("sinks", {17, 70, 1}, {17, 70, 30}, sinks);
    add("sinks of decoding", {1, 1, 3}, {65, 1400, 700}, sinks);
    add("sinks of queries without keys", {20, 4}, {5, 0}, sinks);
    sinks.window = 40;
    add("sinks of a window", {300, 1}, {300, 900}, sinks);
    sinks.n_heads = sinks.n_kv_heads = 1;
    add("sinks alone", {250}, {250}, sinks);
  }
  return list;
}

/// Cases without these: shapes, heads, causal masks, dropout, gathered keys.
std::vector<AttentionCase> shape_cases(DType dtype, bool causal) {
  std::vector<AttentionCase> list;
  const auto add = [&](const std::string& name, const Offsets& q, const Offsets& kv,
                       AttentionCase c) {
    c.name = name + (causal ? " causal" : "");
    c.q_lengths = q;
    c.kv_lengths = kv;
    c.causal = causal;
    c.dtype = dtype;
    list.push_back(c);
  };
  const AttentionCase four{.n_heads = 4, .n_kv_heads = 4, .d = 32, .dv = 32};
  for (const int32_t length : {1, 2, 17, 64, 130})
    add("self " + std::to_string(length), {length}, {length}, four);
  for (const auto& [heads, kv_heads] : {std::pair{1, 1}, {4, 4}, {4, 2}, {8, 1}})
    add("heads " + std::to_string(heads) + "/" + std::to_string(kv_heads), {5, 31, 1}, {5, 31, 1},
        {.n_heads = heads, .n_kv_heads = kv_heads});
  add("cross", {3, 20, 0, 70}, {17, 1, 5, 130}, {.n_heads = 2, .n_kv_heads = 2});
  add("more queries than keys", {20, 4}, {5, 0},
      {.n_heads = 2, .n_kv_heads = 1, .d = 16, .dv = 16});
  // One head on several threads: rows and keys become separate tasks.
  add("alone", {250}, {250}, {.d = 32, .dv = 32, .dropout = 0.1f});
  add("alone, grouped", {150}, {210}, {.n_heads = 4, .n_kv_heads = 1, .d = 16, .dv = 16});
  add("odd widths", {17, 40}, {17, 40}, {.n_heads = 3, .n_kv_heads = 3, .d = 3, .dv = 5});
  add("values wider", {17, 80}, {17, 80}, {.n_heads = 2, .n_kv_heads = 1, .d = 24, .dv = 100});
  add("dropout", {30, 100, 7}, {30, 100, 7},
      {.n_heads = 4, .n_kv_heads = 2, .d = 32, .dv = 32, .dropout = 0.3f});
  add("gathered", {1, 9, 2}, {25, 70, 2},
      {.n_heads = 4, .n_kv_heads = 2, .d = 32, .dv = 16, .gathered = true});
  add("decoding", {1, 1, 1}, {1, 65, 200}, {.n_heads = 4, .n_kv_heads = 4, .gathered = true});
  return list;
}

std::vector<AttentionCase> cases() {
  std::vector<AttentionCase> list = score_cases();
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const bool causal : {false, true})
      for (const AttentionCase& c : shape_cases(dtype, causal)) list.push_back(c);
  for (AttentionCase& c : list) c.name += c.dtype == DType::bf16 ? " bf16" : " f32";
  return list;
}

class Attention : public testing::TestWithParam<AttentionCase> {};

TEST_P(Attention, CpuAgreesWithReferenceOnEveryTarget) {
  const AttentionCase& c = GetParam();
  AttentionProblem plain(c);
  reference::attention_forward(plain.in(), plain.out, plain.logsumexp);
  if (!c.gathered)
    reference::attention_backward(plain.in(), plain.out, plain.logsumexp, plain.d_out,
                                  plain.gradients());
  const bool f32 = c.dtype == DType::f32;
  on_every_target([&](const std::string& target) {
    AttentionProblem fast(c);
    cpu::attention_forward(fast.in(), fast.out, fast.logsumexp);
    EXPECT_LT(difference(fast.out, plain.out), f32 ? 1e-5 : 8e-3) << target;
    EXPECT_LT(difference(fast.logsumexp, plain.logsumexp), 1e-5) << target;
    if (c.gathered) return;
    cpu::attention_backward(fast.in(), plain.out, plain.logsumexp, fast.d_out, fast.gradients());
    EXPECT_LT(difference(fast.dq, plain.dq), f32 ? 1e-5 : 1.6e-2) << target;
    EXPECT_LT(difference(fast.dk, plain.dk), f32 ? 1e-5 : 1.6e-2) << target;
    EXPECT_LT(difference(fast.dv, plain.dv), f32 ? 1e-5 : 1.6e-2) << target;
    if (c.sinks) {
      EXPECT_LT(difference(fast.d_sinks, plain.d_sinks), f32 ? 1e-5 : 1.6e-2) << target;
    }
    if (c.pairs) {
      EXPECT_LT(difference(fast.d_pair_bias, plain.d_pair_bias), f32 ? 1e-5 : 1.6e-2) << target;
    }
    if (c.reach > 0) {
      EXPECT_LT(difference(fast.d_bias, plain.d_bias), f32 ? 1e-5 : 1.6e-2) << target;
    }
  });
}

TEST_P(Attention, WeightsAgreeWithReferenceAndSumToOneUnlessThereAreSinks) {
  const AttentionProblem problem(GetParam());
  for (int64_t b = 0; b < problem.spans.sequences(); ++b) {
    const QueryRange all{b, 0, problem.queries(b)};
    const Tensor fast = cpu::attention_weights(problem.in(), all);
    const Tensor plain = reference::attention_weights(problem.in(), all);
    ASSERT_EQ(fast.shape(), plain.shape());
    EXPECT_LT(difference(fast, plain), 1e-5);
    const auto weights = numbers(fast);
    const size_t keys = static_cast<size_t>(fast.cols());
    for (size_t row = 0; keys > 0 && row < weights.size(); row += keys) {
      const double sum = std::accumulate(weights.begin() + static_cast<int64_t>(row),
                                         weights.begin() + static_cast<int64_t>(row + keys), 0.0);
      if (GetParam().sinks) {
        EXPECT_LT(sum, 1.0) << "row " << row / keys;
      } else {
        EXPECT_TRUE(std::abs(sum - 1.0) < 1e-5 || sum == 0.0) << "row " << row / keys;
      }
    }
  }
}

TEST_P(Attention, WeightsOfSomeQueriesAreThoseOfAll) {
  const AttentionProblem problem(GetParam());
  for (int64_t b = 0; b < problem.spans.sequences(); ++b) {
    const int64_t queries = problem.queries(b);
    const Tensor whole = cpu::attention_weights(problem.in(), {b, 0, queries});
    for (const auto& [begin, end] :
         {std::pair{int64_t{0}, queries / 2}, std::pair{queries / 3, queries}}) {
      const Tensor part = cpu::attention_weights(problem.in(), {b, begin, end});
      const Shape expected{whole.shape()[0], end - begin, whole.cols()};
      ASSERT_EQ(part.shape(), expected);
      for (int64_t h = 0; h < expected[0]; ++h)
        for (int64_t i = 0; i < (end - begin) * whole.cols(); ++i)
          ASSERT_EQ(part.data<float>()[h * (end - begin) * whole.cols() + i],
                    whole.data<float>()[(h * queries + begin) * whole.cols() + i]);
    }
  }
}

TEST_P(Attention, DoesNotDependOnTheNumberOfThreads) {
  const AttentionCase& c = GetParam();
  expect_same_on_any_thread_count([&]() -> std::vector<Tensor> {
    AttentionProblem problem(c);
    attention_forward(problem.in(), problem.out, problem.logsumexp);
    if (c.gathered) return {problem.out, problem.logsumexp};
    attention_backward(problem.in(), problem.out, problem.logsumexp, problem.d_out,
                       problem.gradients());
    std::vector<Tensor> all{problem.out, problem.logsumexp, problem.dq, problem.dk, problem.dv};
    if (c.reach > 0) all.push_back(problem.d_bias);
    if (c.sinks) all.push_back(problem.d_sinks);
    if (c.pairs) all.push_back(problem.d_pair_bias);
    return all;
  });
}

INSTANTIATE_TEST_SUITE_P(Cases, Attention, testing::ValuesIn(cases()), [](const auto& case_info) {
  std::string name = case_info.param.name;
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  return name;
});

TEST(AttentionGradient, AgreesWithFiniteDifferences) {
  for (const float dropout : {0.0f, 0.4f})
    for (const bool causal : {false, true}) {
      AttentionProblem problem({"", {4, 6}, {4, 7}, 4, 2, 5, 3, causal, dropout}, 0.5f);
      cpu::attention_forward(problem.in(), problem.out, problem.logsumexp);
      cpu::attention_backward(problem.in(), problem.out, problem.logsumexp, problem.d_out,
                              problem.gradients());
      const auto loss = [&] {
        Tensor out = Tensor::empty(problem.out.shape());
        Tensor logsumexp = Tensor::empty(problem.logsumexp.shape());
        reference::attention_forward(problem.in(), out, logsumexp);
        return weighted_sum(out, problem.d_out);
      };
      EXPECT_LT(gradient_error(problem.q, problem.dq, loss), 1e-4);
      EXPECT_LT(gradient_error(problem.k, problem.dk, loss), 1e-4);
      EXPECT_LT(gradient_error(problem.v, problem.dv, loss), 1e-4);
    }
}

TEST(AttentionGradient, AgreesWithFiniteDifferencesWithWindowCapAndBias) {
  AttentionCase c{"", {4, 6}, {4, 7}, 4, 2, 5, 3};
  for (const auto& [causal, window] : {std::pair{true, 0}, {true, 3}, {false, 3}})
    for (const float soft_cap : {0.0f, 1.0f})
      for (const int64_t reach : {0, 3}) {
        c.causal = causal, c.window = window, c.soft_cap = soft_cap, c.reach = reach;
        AttentionProblem problem(c, 0.7f);
        cpu::attention_forward(problem.in(), problem.out, problem.logsumexp);
        cpu::attention_backward(problem.in(), problem.out, problem.logsumexp, problem.d_out,
                                problem.gradients());
        const auto loss = [&] {
          Tensor out = Tensor::empty(problem.out.shape());
          Tensor logsumexp = Tensor::empty(problem.logsumexp.shape());
          reference::attention_forward(problem.in(), out, logsumexp);
          return weighted_sum(out, problem.d_out);
        };
        EXPECT_LT(gradient_error(problem.q, problem.dq, loss), 1e-4);
        EXPECT_LT(gradient_error(problem.k, problem.dk, loss), 1e-4);
        EXPECT_LT(gradient_error(problem.v, problem.dv, loss), 1e-4);
        if (reach > 0) {
          EXPECT_LT(gradient_error(problem.bias, problem.d_bias, loss), 1e-4);
        }
      }
}

TEST(AttentionGradient, IsZeroForKeysThatNoSequenceReads) {
  AttentionProblem problem({"", {6}, {9}, 2, 2, 16, 16});
  problem.spans.kv_begin = {2};
  problem.spans.kv_end = {7};
  attention_forward(problem.in(), problem.out, problem.logsumexp);
  attention_backward(problem.in(), problem.out, problem.logsumexp, problem.d_out,
                     problem.gradients());
  for (const Tensor& x : {problem.dk, problem.dv})
    for (const int64_t row : {0, 1, 7, 8})
      for (const double value : numbers(x.row_slice(row, row + 1))) EXPECT_EQ(value, 0.0);
}

TEST(AttentionGradient, RefusesGatheredKeys) {
  AttentionProblem problem({"", {3}, {5}, 1, 1, 4, 4, false, 0.0f, true});
  EXPECT_THROW(cpu::attention_backward(problem.in(), problem.out, problem.logsumexp, problem.d_out,
                                       problem.gradients()),
               Error);
}

TEST(AttentionExtremes, LargeScoresStayFinite) {
  for (const bool causal : {false, true}) {
    AttentionProblem problem({"", {70, 3}, {70, 90}, 2, 2, 32, 32, causal},
                             100.0f);  // scores of 1e4
    cpu::attention_forward(problem.in(), problem.out, problem.logsumexp);
    cpu::attention_backward(problem.in(), problem.out, problem.logsumexp, problem.d_out,
                            problem.gradients());
    for (const Tensor& x : {problem.out, problem.logsumexp, problem.dq, problem.dk, problem.dv})
      for (const double value : numbers(x)) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST(AttentionExtremes, AQueryWithoutKeysYieldsZeros) {
  // 20 queries on 5 keys: causally, the first 15 see none; and a sequence without keys.
  AttentionProblem problem({"", {20, 2}, {5, 0}, 2, 2, 16, 16, true});
  cpu::attention_forward(problem.in(), problem.out, problem.logsumexp);
  cpu::attention_backward(problem.in(), problem.out, problem.logsumexp, problem.d_out,
                          problem.gradients());
  for (int64_t n = 0; n < 22; ++n) {
    if (n >= 15 && n < 20) continue;
    for (const double value : numbers(problem.out.row_slice(n, n + 1))) EXPECT_EQ(value, 0.0);
    for (const double value : numbers(problem.dq.row_slice(n, n + 1))) EXPECT_EQ(value, 0.0);
    for (const double value : numbers(problem.logsumexp.row_slice(n, n + 1)))
      EXPECT_EQ(value, -std::numeric_limits<double>::infinity());
  }
  for (const Tensor& x : {problem.dk, problem.dv})
    for (const double value : numbers(x)) ASSERT_TRUE(std::isfinite(value));
}

TEST(AttentionDropout, KeepsTheMeanAndDependsOnTheKey) {
  AttentionProblem problem({"", {200}, {200}, 4, 4, 16, 16});
  attention_forward(problem.in(), problem.out, problem.logsumexp);
  problem.options.dropout = 0.25f;
  std::vector<double> mean(static_cast<size_t>(problem.out.elements()), 0.0);
  Tensor out = Tensor::empty(problem.out.shape()), again = Tensor::empty(problem.out.shape());
  constexpr int kMasks = 400;
  for (int mask = 0; mask < kMasks; ++mask) {
    problem.options.dropout_key = static_cast<uint64_t>(mask);
    attention_forward(problem.in(), out, problem.logsumexp);
    const auto dropped = numbers(out);
    for (size_t i = 0; i < mean.size(); ++i) mean[i] += dropped[i] / kMasks;
  }
  attention_forward(problem.in(), again, problem.logsumexp);
  EXPECT_TRUE(same_bits(out, again));
  const auto expected = numbers(problem.out);
  double squares = 0.0;
  for (size_t i = 0; i < mean.size(); ++i) squares += std::pow(mean[i] - expected[i], 2);
  EXPECT_LT(std::sqrt(squares / static_cast<double>(mean.size())), 0.01);
}

/// The peak resident memory of this process, in KiB.
int64_t peak_resident() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word)
    if (word == "VmHWM:") {
      int64_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes;
    }
  return 0;
}

TEST(AttentionMemory, GrowsLinearlyWithTheLength) {
  constexpr int32_t kLength = 4096;
  AttentionProblem problem({"", {kLength}, {kLength}, 4, 4, 64, 64, true});
  const int64_t before = peak_resident();
  attention_forward(problem.in(), problem.out, problem.logsumexp);
  attention_backward(problem.in(), problem.out, problem.logsumexp, problem.d_out,
                     problem.gradients());
  // One head's weights alone would be 64 MiB.
  EXPECT_LT(peak_resident() - before, 48 * 1024);
}

}  // namespace
}  // namespace heed::kernels
