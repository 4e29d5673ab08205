#include "heed/kernels/attention.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

using Offsets = std::vector<int32_t>;

struct Case {
  std::string name = {};
  Offsets q_lengths = {}, kv_lengths = {};
  int64_t n_heads = 1, n_kv_heads = 1, d = 64, dv = 64;
  bool causal = false;
  float dropout = 0.0f;
  bool gathered = false;  // through kv_rows
  DType dtype = DType::f32;
  int64_t window = 0;
  float soft_cap = 0.0f;
  int64_t reach = 0;  // of a relative bias; 0: none
};

std::ostream& operator<<(std::ostream& stream, const Case& c) { return stream << c.name; }

Offsets offsets_of(const Offsets& lengths) {
  Offsets offsets{0};
  for (const int32_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

/// Operands, results and gradients of one case.
struct Problem {
  explicit Problem(const Case& c, float spread = 1.0f) {
    const Offsets q_offsets = offsets_of(c.q_lengths), kv_offsets = offsets_of(c.kv_lengths);
    spans = AttentionSpans::cross(q_offsets, kv_offsets);
    const int64_t keys = kv_offsets.back();
    if (c.gathered)  // a permutation: 7 is prime to every length below
      for (int64_t j = 0; j < keys; ++j)
        spans.kv_rows.push_back(static_cast<int32_t>((7 * j + 3) % keys));
    options = {.n_heads = c.n_heads,
               .n_kv_heads = c.n_kv_heads,
               .scale = 1.0f / std::sqrt(static_cast<float>(c.d)),
               .causal = c.causal,
               .window = c.window,
               .soft_cap = c.soft_cap,
               .dropout = c.dropout,
               .dropout_key = 0x0123456789abcdefu};
    q = normals({q_offsets.back(), c.n_heads * c.d}, 1, c.dtype, spread);
    k = normals({keys, c.n_kv_heads * c.d}, 2, c.dtype, spread);
    v = normals({keys, c.n_kv_heads * c.dv}, 3, c.dtype);
    d_out = normals({q_offsets.back(), c.n_heads * c.dv}, 4, c.dtype);
    out = Tensor::empty(d_out.shape(), c.dtype);
    log_sum = Tensor::empty({q_offsets.back(), c.n_heads});
    dq = Tensor::empty(q.shape(), c.dtype);
    dk = Tensor::empty(k.shape(), c.dtype);
    dv = Tensor::empty(v.shape(), c.dtype);
    if (c.reach == 0) return;
    bias = normals({c.n_heads, 2 * c.reach - 1}, 5);
    d_bias = Tensor::empty(bias.shape());
  }

  AttentionForward in() const { return {q, k, v, spans, options, bias}; }
  AttentionGradients gradients() { return {dq, dk, dv, d_bias}; }

  AttentionSpans spans;
  AttentionOptions options;
  Tensor q, k, v, d_out, out, log_sum, dq, dk, dv;
  Tensor bias, d_bias;
};

/// The largest difference, relative to the largest expected magnitude (at least 1).
double difference(const Tensor& actual, const Tensor& expected) {
  const auto a = numbers(actual), e = numbers(expected);
  double largest = 1.0, worst = 0.0;
  for (size_t i = 0; i < e.size(); ++i) {
    if (a[i] == e[i]) continue;  // minus infinity too
    if (!std::isfinite(a[i]) || !std::isfinite(e[i])) return HUGE_VAL;
    largest = std::max(largest, std::abs(e[i]));
    worst = std::max(worst, std::abs(a[i] - e[i]));
  }
  return worst / largest;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.bytes() == b.bytes() &&
         std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.bytes())) == 0;
}

/// What changes scores: windows, soft caps, relative biases.
std::vector<Case> score_cases() {
  std::vector<Case> list;
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const auto add = [&](const std::string& name, const Offsets& q, const Offsets& kv, Case c) {
      c.name = name;
      c.q_lengths = q;
      c.kv_lengths = kv;
      c.dtype = dtype;
      list.push_back(c);
    };
    const Case causal{.n_heads = 4, .n_kv_heads = 2, .d = 32, .dv = 24, .causal = true};
    for (const int64_t window : {1, 7, 64, 65, 100}) {
      const std::string suffix = " window " + std::to_string(window);
      Case c = causal;
      c.window = window;
      add("self" + suffix, {1, 17, 70, 200}, {1, 17, 70, 200}, c);
      add("fewer queries than keys" + suffix, {1, 6, 40}, {130, 200, 41}, c);
      add("more queries than keys" + suffix, {20, 90}, {5, 70}, c);
      c.n_heads = c.n_kv_heads = 1;
      add("alone" + suffix, {450}, {450}, c);  // rows and keys become separate tasks
      c.dropout = 0.2f;
      add("dropout" + suffix, {90, 3}, {90, 3}, c);
    }
    for (const bool mask : {false, true}) {
      const std::string suffix = mask ? " causal" : "";
      Case c{.n_heads = 4, .n_kv_heads = 4, .d = 32, .dv = 32, .causal = mask};
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
    Case all = causal;
    all.window = 33, all.soft_cap = 2.0f, all.reach = 12, all.dropout = 0.1f;
    add("everything", {100, 7}, {120, 7}, all);
  }
  return list;
}

std::vector<Case> cases() {
  std::vector<Case> list;
  const auto add = [&](Case c) {
    c.name += c.dtype == DType::bf16 ? " bf16" : " f32";
    list.push_back(c);
  };
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const bool causal : {false, true}) {
      const std::string suffix = causal ? " causal" : "";
      for (const int32_t length : {1, 2, 17, 64, 130})
        add({"self " + std::to_string(length) + suffix,
             {length},
             {length},
             4,
             4,
             32,
             32,
             causal,
             0.0f,
             false,
             dtype});
      for (const auto& [heads, kv_heads] : {std::pair{1, 1}, {4, 4}, {4, 2}, {8, 1}})
        add({"heads " + std::to_string(heads) + "/" + std::to_string(kv_heads) + suffix,
             {5, 31, 1},
             {5, 31, 1},
             heads,
             kv_heads,
             64,
             64,
             causal,
             0.0f,
             false,
             dtype});
      add({"cross" + suffix,
           {3, 20, 0, 70},
           {17, 1, 5, 130},
           2,
           2,
           64,
           64,
           causal,
           0.0f,
           false,
           dtype});
      add({"more queries than keys" + suffix,
           {20, 4},
           {5, 0},
           2,
           1,
           16,
           16,
           causal,
           0.0f,
           false,
           dtype});
      // One head on several threads: rows and keys become separate tasks.
      add({"alone" + suffix, {250}, {250}, 1, 1, 32, 32, causal, 0.1f, false, dtype});
      add({"alone, grouped" + suffix, {150}, {210}, 4, 1, 16, 16, causal, 0.0f, false, dtype});
      add({"odd widths" + suffix, {17, 40}, {17, 40}, 3, 3, 3, 5, causal, 0.0f, false, dtype});
      add({"values wider" + suffix, {17, 80}, {17, 80}, 2, 1, 24, 100, causal, 0.0f, false, dtype});
      add({"dropout" + suffix,
           {30, 100, 7},
           {30, 100, 7},
           4,
           2,
           32,
           32,
           causal,
           0.3f,
           false,
           dtype});
      add({"gathered" + suffix, {1, 9, 2}, {25, 70, 2}, 4, 2, 32, 16, causal, 0.0f, true, dtype});
      add({"decoding" + suffix, {1, 1, 1}, {1, 65, 200}, 4, 4, 64, 64, causal, 0.0f, true, dtype});
    }
  }
  for (const Case& c : score_cases()) add(c);
  return list;
}

class Attention : public testing::TestWithParam<Case> {};

TEST_P(Attention, CpuAgreesWithReferenceOnEveryTarget) {
  const Case& c = GetParam();
  Problem plain(c);
  reference::attention_forward(plain.in(), plain.out, plain.log_sum);
  if (!c.gathered)
    reference::attention_backward(plain.in(), plain.out, plain.log_sum, plain.d_out,
                                  plain.gradients());
  const bool f32 = c.dtype == DType::f32;
  on_every_target([&](const std::string& target) {
    Problem fast(c);
    cpu::attention_forward(fast.in(), fast.out, fast.log_sum);
    EXPECT_LT(difference(fast.out, plain.out), f32 ? 1e-5 : 8e-3) << target;
    EXPECT_LT(difference(fast.log_sum, plain.log_sum), 1e-5) << target;
    if (c.gathered) return;
    cpu::attention_backward(fast.in(), plain.out, plain.log_sum, fast.d_out, fast.gradients());
    EXPECT_LT(difference(fast.dq, plain.dq), f32 ? 1e-5 : 1.6e-2) << target;
    EXPECT_LT(difference(fast.dk, plain.dk), f32 ? 1e-5 : 1.6e-2) << target;
    EXPECT_LT(difference(fast.dv, plain.dv), f32 ? 1e-5 : 1.6e-2) << target;
    if (c.reach > 0) {
      EXPECT_LT(difference(fast.d_bias, plain.d_bias), f32 ? 1e-5 : 1.6e-2) << target;
    }
  });
}

TEST_P(Attention, WeightsAgreeWithReferenceAndSumToOne) {
  const Problem problem(GetParam());
  for (int64_t b = 0; b < problem.spans.sequences(); ++b) {
    const Tensor fast = cpu::attention_weights(problem.in(), b);
    const Tensor plain = reference::attention_weights(problem.in(), b);
    ASSERT_EQ(fast.shape(), plain.shape());
    EXPECT_LT(difference(fast, plain), 1e-5);
    const auto weights = numbers(fast);
    const size_t keys = static_cast<size_t>(fast.cols());
    for (size_t row = 0; keys > 0 && row < weights.size(); row += keys) {
      const double sum = std::accumulate(weights.begin() + static_cast<int64_t>(row),
                                         weights.begin() + static_cast<int64_t>(row + keys), 0.0);
      EXPECT_TRUE(std::abs(sum - 1.0) < 1e-5 || sum == 0.0) << "row " << row / keys;
    }
  }
}

TEST_P(Attention, ThreadsChangeNoBit) {
  const Case& c = GetParam();
  expect_no_thread_matters([&]() -> std::vector<Tensor> {
    Problem problem(c);
    attention_forward(problem.in(), problem.out, problem.log_sum);
    if (c.gathered) return {problem.out, problem.log_sum};
    attention_backward(problem.in(), problem.out, problem.log_sum, problem.d_out,
                       problem.gradients());
    std::vector<Tensor> all{problem.out, problem.log_sum, problem.dq, problem.dk, problem.dv};
    if (c.reach > 0) all.push_back(problem.d_bias);
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
      Problem problem({"", {4, 6}, {4, 7}, 4, 2, 5, 3, causal, dropout}, 0.5f);
      cpu::attention_forward(problem.in(), problem.out, problem.log_sum);
      cpu::attention_backward(problem.in(), problem.out, problem.log_sum, problem.d_out,
                              problem.gradients());
      const auto loss = [&] {
        Tensor out = Tensor::empty(problem.out.shape());
        Tensor log_sum = Tensor::empty(problem.log_sum.shape());
        reference::attention_forward(problem.in(), out, log_sum);
        return weighted_sum(out, problem.d_out);
      };
      EXPECT_LT(gradient_error(problem.q, problem.dq, loss), 1e-4);
      EXPECT_LT(gradient_error(problem.k, problem.dk, loss), 1e-4);
      EXPECT_LT(gradient_error(problem.v, problem.dv, loss), 1e-4);
    }
}

TEST(AttentionGradient, AgreesWithFiniteDifferencesWhereScoresAreChanged) {
  Case c{"", {4, 6}, {4, 7}, 4, 2, 5, 3, true};
  for (const int64_t window : {0, 3})
    for (const float soft_cap : {0.0f, 1.0f})
      for (const int64_t reach : {0, 3}) {
        c.window = window, c.soft_cap = soft_cap, c.reach = reach;
        Problem problem(c, 0.7f);
        cpu::attention_forward(problem.in(), problem.out, problem.log_sum);
        cpu::attention_backward(problem.in(), problem.out, problem.log_sum, problem.d_out,
                                problem.gradients());
        const auto loss = [&] {
          Tensor out = Tensor::empty(problem.out.shape());
          Tensor log_sum = Tensor::empty(problem.log_sum.shape());
          reference::attention_forward(problem.in(), out, log_sum);
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

TEST(AttentionGradient, IsZeroForKeysOfNoSequence) {
  Problem problem({"", {6}, {9}, 2, 2, 16, 16});
  problem.spans.kv_begin = {2};
  problem.spans.kv_end = {7};
  attention_forward(problem.in(), problem.out, problem.log_sum);
  attention_backward(problem.in(), problem.out, problem.log_sum, problem.d_out,
                     problem.gradients());
  for (const Tensor& x : {problem.dk, problem.dv})
    for (const int64_t row : {0, 1, 7, 8})
      for (const double value : numbers(x.row_slice(row, row + 1))) EXPECT_EQ(value, 0.0);
}

TEST(AttentionGradient, RefusesGatheredKeys) {
  Problem problem({"", {3}, {5}, 1, 1, 4, 4, false, 0.0f, true});
  EXPECT_THROW(cpu::attention_backward(problem.in(), problem.out, problem.log_sum, problem.d_out,
                                       problem.gradients()),
               Error);
}

TEST(AttentionExtremes, LargeScoresStayFinite) {
  for (const bool causal : {false, true}) {
    Problem problem({"", {70, 3}, {70, 90}, 2, 2, 32, 32, causal}, 100.0f);  // scores of 1e4
    cpu::attention_forward(problem.in(), problem.out, problem.log_sum);
    cpu::attention_backward(problem.in(), problem.out, problem.log_sum, problem.d_out,
                            problem.gradients());
    for (const Tensor& x : {problem.out, problem.log_sum, problem.dq, problem.dk, problem.dv})
      for (const double value : numbers(x)) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST(AttentionExtremes, QueryThatSeesNothingYieldsZeros) {
  // 20 queries on 5 keys: causally, the first 15 see none; and a sequence without keys.
  Problem problem({"", {20, 2}, {5, 0}, 2, 2, 16, 16, true});
  cpu::attention_forward(problem.in(), problem.out, problem.log_sum);
  cpu::attention_backward(problem.in(), problem.out, problem.log_sum, problem.d_out,
                          problem.gradients());
  for (int64_t n = 0; n < 22; ++n) {
    if (n >= 15 && n < 20) continue;
    for (const double value : numbers(problem.out.row_slice(n, n + 1))) EXPECT_EQ(value, 0.0);
    for (const double value : numbers(problem.dq.row_slice(n, n + 1))) EXPECT_EQ(value, 0.0);
    for (const double value : numbers(problem.log_sum.row_slice(n, n + 1)))
      EXPECT_EQ(value, -std::numeric_limits<double>::infinity());
  }
  for (const Tensor& x : {problem.dk, problem.dv})
    for (const double value : numbers(x)) ASSERT_TRUE(std::isfinite(value));
}

/// Rows [begin, end) of `whole`, attending to the keys [0, visible).
Tensor some_rows(const Problem& whole, int32_t begin, int32_t end, int32_t visible) {
  const Tensor q = whole.q.row_slice(begin, end);
  const AttentionSpans spans{{0, end - begin}, {0}, {visible}, whole.spans.kv_rows};
  Tensor out = Tensor::empty({end - begin, whole.out.cols()}, whole.out.dtype());
  Tensor log_sum = Tensor::empty({end - begin, whole.log_sum.cols()});
  attention_forward({q, whole.k, whole.v, spans, whole.options, whole.bias}, out, log_sum);
  return out;
}

TEST(AttentionRows, StepByStepEqualsTheFullPassBitForBit) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const bool gathered : {false, true}) {
      Problem whole({"", {150}, {150}, 4, 2, 64, 48, true, 0.0f, gathered, dtype});
      attention_forward(whole.in(), whole.out, whole.log_sum);
      for (int32_t n = 0; n < 150; ++n)
        ASSERT_TRUE(same_bits(some_rows(whole, n, n + 1, n + 1), whole.out.row_slice(n, n + 1)))
            << "row " << n;
    }
}

TEST(AttentionRows, StepByStepEqualsTheFullPassWithWindowCapAndBias) {
  Case c{"", {260}, {260}, 4, 2, 64, 48, true};
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const int64_t window : {0, 1, 20, 64, 100})
      for (const float soft_cap : {0.0f, 2.0f})
        for (const int64_t reach : {0, 30}) {
          c.dtype = dtype, c.window = window, c.soft_cap = soft_cap, c.reach = reach;
          Problem whole(c);
          attention_forward(whole.in(), whole.out, whole.log_sum);
          for (int32_t n = 0; n < 260; n += n % 7 + 1)
            ASSERT_TRUE(same_bits(some_rows(whole, n, n + 1, n + 1), whole.out.row_slice(n, n + 1)))
                << "row " << n << ", window " << window;
          for (const auto& [begin, end] : {std::pair{60, 75}, {3, 200}, {130, 132}})
            ASSERT_TRUE(
                same_bits(some_rows(whole, begin, end, end), whole.out.row_slice(begin, end)))
                << begin << " to " << end << ", window " << window;
        }
}

TEST(AttentionWindow, WiderThanTheSequenceHidesNothing) {
  Problem plain({"", {100}, {120}, 2, 2, 32, 32, true}), windowed = plain;
  windowed.options.window = 120;
  windowed.out = Tensor::empty(plain.out.shape());
  attention_forward(plain.in(), plain.out, plain.log_sum);
  attention_forward(windowed.in(), windowed.out, windowed.log_sum);
  EXPECT_TRUE(same_bits(plain.out, windowed.out));
}

TEST(AttentionBias, OneNumberForAllDistancesChangesNoWeight) {
  Case c{"", {100}, {120}, 2, 2, 32, 32, true};
  Problem plain(c);
  c.reach = 1;
  Problem biased(c);
  attention_forward(plain.in(), plain.out, plain.log_sum);
  attention_forward(biased.in(), biased.out, biased.log_sum);
  EXPECT_LT(difference(biased.out, plain.out), 1e-5);
}

TEST(AttentionWindow, KeysOutsideAreNotRead) {
  Problem problem({"", {9}, {400}, 2, 1, 32, 32, true});
  problem.options.window = 70;  // the queries at 391 to 399 see keys from 322 on
  attention_forward(problem.in(), problem.out, problem.log_sum);
  const Tensor before = problem.out.clone();
  for (Tensor* x : {&problem.k, &problem.v})
    std::fill(x->data<float>(), x->data<float>() + 320 * x->cols(),
              std::numeric_limits<float>::quiet_NaN());
  attention_forward(problem.in(), problem.out, problem.log_sum);
  EXPECT_TRUE(same_bits(problem.out, before));
}

TEST(AttentionRows, DependNotOnTheRowsBeside) {
  for (const int32_t d : {64, 20}) {
    Problem whole({"", {131}, {131}, 2, 1, d, d});
    attention_forward(whole.in(), whole.out, whole.log_sum);
    for (const auto& [begin, end] : {std::pair{0, 1}, {5, 7}, {5, 8}, {40, 49}, {3, 130}})
      EXPECT_TRUE(same_bits(some_rows(whole, begin, end, 131), whole.out.row_slice(begin, end)))
          << begin << " to " << end;
  }
}

TEST(AttentionRows, DependNotOnTheBatch) {
  const Case batch{"", {30, 70, 1}, {30, 70, 40}, 4, 2, 32, 32};
  Problem all(batch);
  attention_forward(all.in(), all.out, all.log_sum);
  for (size_t b = 0; b < 3; ++b) {
    const int32_t begin = all.spans.q_offsets[b], end = all.spans.q_offsets[b + 1];
    const Tensor q = all.q.row_slice(begin, end);
    const AttentionSpans spans{
        {0, end - begin}, {all.spans.kv_begin[b]}, {all.spans.kv_end[b]}, {}};
    Tensor out = Tensor::empty({end - begin, all.out.cols()});
    Tensor log_sum = Tensor::empty({end - begin, all.log_sum.cols()});
    attention_forward({q, all.k, all.v, spans, all.options}, out, log_sum);
    EXPECT_TRUE(same_bits(out, all.out.row_slice(begin, end))) << "sequence " << b;
  }
}

TEST(AttentionRows, SharedKeysEqualCopiedKeys) {
  // Four beams read the same 37 keys, and the second sentence's two beams 20 others.
  Problem copied({"", {1, 1, 1, 1, 1, 1}, {37, 37, 37, 37, 20, 20}, 2, 2, 64, 64});
  for (int64_t b = 1; b < 6; ++b) {
    const size_t i = static_cast<size_t>(b);
    if (b == 4) continue;
    const int32_t from = b < 4 ? 0 : copied.spans.kv_begin[4];
    for (Tensor* x : {&copied.k, &copied.v})
      for (int32_t j = copied.spans.kv_begin[i]; j < copied.spans.kv_end[i]; ++j)
        std::memcpy(x->row_slice(j, j + 1).raw(),
                    x->row_slice(from + j - copied.spans.kv_begin[i],
                                 from + j - copied.spans.kv_begin[i] + 1)
                        .raw(),
                    static_cast<size_t>(x->cols()) * sizeof(float));
  }
  attention_forward(copied.in(), copied.out, copied.log_sum);
  AttentionSpans shared = copied.spans;
  shared.kv_begin = {0, 0, 0, 0, 148, 148};
  shared.kv_end = {37, 37, 37, 37, 168, 168};
  for (const bool causal : {false, true}) {
    AttentionOptions options = copied.options;
    options.causal = causal;  // one query a sequence sees everything either way
    Tensor out = Tensor::empty(copied.out.shape());
    Tensor log_sum = Tensor::empty(copied.log_sum.shape());
    attention_forward({copied.q, copied.k, copied.v, shared, options}, out, log_sum);
    EXPECT_TRUE(same_bits(out, copied.out));
  }
}

TEST(AttentionDropout, KeepsTheMeanAndFollowsTheKey) {
  Problem problem({"", {200}, {200}, 4, 4, 16, 16});
  attention_forward(problem.in(), problem.out, problem.log_sum);
  problem.options.dropout = 0.25f;
  std::vector<double> mean(static_cast<size_t>(problem.out.elements()), 0.0);
  Tensor out = Tensor::empty(problem.out.shape()), again = Tensor::empty(problem.out.shape());
  constexpr int kMasks = 400;
  for (int mask = 0; mask < kMasks; ++mask) {
    problem.options.dropout_key = static_cast<uint64_t>(mask);
    attention_forward(problem.in(), out, problem.log_sum);
    const auto dropped = numbers(out);
    for (size_t i = 0; i < mean.size(); ++i) mean[i] += dropped[i] / kMasks;
  }
  attention_forward(problem.in(), again, problem.log_sum);
  EXPECT_TRUE(same_bits(out, again));
  const auto expected = numbers(problem.out);
  double squares = 0.0;
  for (size_t i = 0; i < mean.size(); ++i) squares += std::pow(mean[i] - expected[i], 2);
  EXPECT_LT(std::sqrt(squares / static_cast<double>(mean.size())), 0.01);
}

/// The most memory this process ever held, in KiB.
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
  Problem problem({"", {kLength}, {kLength}, 4, 4, 64, 64, true});
  const int64_t before = peak_resident();
  attention_forward(problem.in(), problem.out, problem.log_sum);
  attention_backward(problem.in(), problem.out, problem.log_sum, problem.d_out,
                     problem.gradients());
  // One head's weights alone would be 64 MiB.
  EXPECT_LT(peak_resident() - before, 48 * 1024);
}

}  // namespace
}  // namespace heed::kernels
