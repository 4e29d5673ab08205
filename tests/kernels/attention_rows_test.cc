// A row of attention's result depends only on the visible keys of its own sequence.
#include <limits>
#include <utility>

#include "heed/kernels/quantize.h"
#include "tests/kernels/attention_problem.h"

namespace heed::kernels {
namespace {

/// x in the dtype of a cache.
Tensor kept_in(const Tensor& x, DType dtype) {
  Tensor kept = Tensor::empty(x.shape(), dtype);
  reference::quantize_weighted(x, {}, kept);
  return kept;
}

Tensor widened(const Tensor& x) {
  Tensor wide = Tensor::empty(x.shape());
  reference::dequantize(x, wide);
  return wide;
}

/// Rows [begin, end) of `whole`, attending to the keys [0, visible).
Tensor some_rows(const AttentionProblem& whole, int32_t begin, int32_t end, int32_t visible) {
  const Tensor q = whole.q.row_slice(begin, end);
  const AttentionMetadata spans{{0, end - begin}, {0}, {visible}, whole.spans.kv_rows};
  Tensor out = Tensor::empty({end - begin, whole.out.cols()}, whole.out.dtype());
  Tensor logsumexp = Tensor::empty({end - begin, whole.logsumexp.cols()});
  attention_forward({q, whole.k, whole.v, spans, whole.options, whole.bias}, out, logsumexp);
  return out;
}

TEST(AttentionRows, DecodingStepByStepEqualsTheFullPassBitForBit) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const int64_t dv : {48, 96})
      for (const bool gathered : {false, true}) {
        AttentionProblem whole({"", {150}, {150}, 4, 2, 64, dv, true, 0.0f, gathered, dtype});
        attention_forward(whole.in(), whole.out, whole.logsumexp);
        for (int32_t n = 0; n < 150; ++n)
          ASSERT_TRUE(same_bits(some_rows(whole, n, n + 1, n + 1), whole.out.row_slice(n, n + 1)))
              << "row " << n;
      }
}

TEST(AttentionRows, DecodingStepByStepEqualsTheFullPassForEveryKeyType) {
  on_every_target([](const std::string& target) {
    for (const DType queries : {DType::f32, DType::bf16})
      for (const DType keys : {DType::bf16, DType::q8_0})
        for (const int64_t window : {0, 70}) {
          AttentionProblem whole(
              {"", {230}, {230}, 6, 2, 32, 64, true, 0.0f, true, queries, window});
          whole.k = kept_in(whole.k, keys);
          whole.v = kept_in(whole.v, keys);
          attention_forward(whole.in(), whole.out, whole.logsumexp);
          for (int32_t n = 0; n < 230; n += n % 7 + 1)
            ASSERT_TRUE(same_bits(some_rows(whole, n, n + 1, n + 1), whole.out.row_slice(n, n + 1)))
                << target << ", row " << n;
          for (const auto& [begin, end] : {std::pair{60, 75}, {3, 200}, {130, 132}})
            ASSERT_TRUE(
                same_bits(some_rows(whole, begin, end, end), whole.out.row_slice(begin, end)))
                << target << ", " << begin << " to " << end;
        }
  });
}

TEST(AttentionRows, WeightsOfBf16KeysAreThoseOfTheSameKeysInF32) {
  on_every_target([](const std::string& target) {
    for (const int64_t d : {20, 36, 64}) {  // of 36 or 20, f32 keys are read in place, bf16 not
      AttentionProblem problem({"", {3, 1, 9}, {70, 5, 130}, 4, 2, d, 64});
      const Tensor narrow = kept_in(problem.k, DType::bf16);
      problem.k = widened(narrow);
      const AttentionForward wide = problem.in();
      const AttentionForward kept{wide.q, narrow, wide.v, wide.spans, wide.options};
      for (int64_t b = 0; b < problem.spans.sequences(); ++b) {
        const QueryRange all{b, 0, problem.queries(b)};
        ASSERT_TRUE(same_bits(attention_weights(kept, all), attention_weights(wide, all)))
            << target << ", width " << d << ", sequence " << b;
      }
    }
  });
}

TEST(AttentionRows, DecodingStepByStepEqualsTheFullPassWithWindowCapAndBias) {
  AttentionCase c{"", {260}, {260}, 4, 2, 64, 48, true};
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const int64_t window : {0, 1, 20, 64, 100})
      for (const float soft_cap : {0.0f, 2.0f})
        for (const int64_t reach : {0, 30}) {
          c.dtype = dtype, c.window = window, c.soft_cap = soft_cap, c.reach = reach;
          AttentionProblem whole(c);
          attention_forward(whole.in(), whole.out, whole.logsumexp);
          for (int32_t n = 0; n < 260; n += n % 7 + 1)
            ASSERT_TRUE(same_bits(some_rows(whole, n, n + 1, n + 1), whole.out.row_slice(n, n + 1)))
                << "row " << n << ", window " << window;
          for (const auto& [begin, end] : {std::pair{60, 75}, {3, 200}, {130, 132}})
            ASSERT_TRUE(
                same_bits(some_rows(whole, begin, end, end), whole.out.row_slice(begin, end)))
                << begin << " to " << end << ", window " << window;
        }
}

TEST(AttentionRows, LongSequencesDoNotDependOnTheBatchOrTheThreads) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const int64_t window : {0, 700}) {
      AttentionProblem whole({"", {1200}, {1200}, 3, 1, 32, 32, true, 0.0f, true, dtype, window});
      {
        const Threads one(1);
        attention_forward(whole.in(), whole.out, whole.logsumexp);
      }
      for (const int count : {1, 2, 3}) {
        const Threads set(count);
        for (const int32_t n : {0, 511, 512, 575, 576, 1023, 1024, 1199})
          ASSERT_TRUE(same_bits(some_rows(whole, n, n + 1, n + 1), whole.out.row_slice(n, n + 1)))
              << "row " << n << ", window " << window << ", " << count << " threads";
        ASSERT_TRUE(same_bits(some_rows(whole, 1000, 1007, 1007), whole.out.row_slice(1000, 1007)))
            << "window " << window << ", " << count << " threads";
      }
    }
}

TEST(AttentionRows, LongSequencesAgreeWithReferenceOnEveryTarget) {
  on_every_target([](const std::string& target) {
    for (const int32_t queries : {1, 3, 40}) {
      AttentionProblem c({"", {queries}, {1300}, 6, 2, 32, 48, true}, 3.0f);
      attention_forward(c.in(), c.out, c.logsumexp);
      Tensor out = Tensor::empty(c.out.shape()), logsumexp = Tensor::empty(c.logsumexp.shape());
      reference::attention_forward(c.in(), out, logsumexp);
      EXPECT_LT(difference(c.out, out), 1e-5) << target << ", " << queries << " queries";
      EXPECT_LT(difference(c.logsumexp, logsumexp), 1e-5)
          << target << ", " << queries << " queries";
    }
  });
}

TEST(AttentionRows, HeadsThatShareKeysEqualSeparateRows) {
  on_every_target([](const std::string& target) {
    for (const DType dtype : {DType::f32, DType::bf16})
      for (int32_t heads = 1; heads <= 9; ++heads) {
        AttentionProblem whole({"", {40}, {100}, heads, 1, 32, 32, true, 0.0f, true, dtype});
        attention_forward(whole.in(), whole.out, whole.logsumexp);
        for (const int32_t n : {0, 17, 39})
          EXPECT_TRUE(same_bits(some_rows(whole, n, n + 1, 61 + n), whole.out.row_slice(n, n + 1)))
              << target << ", " << heads << " heads, row " << n;
      }
  });
}

TEST(AttentionRows, QuantisedKeysEqualTheirF32ValuesBitForBit) {
  on_every_target([](const std::string& target) {
    for (const int64_t d : {32, 64, 96})
      for (const int32_t queries : {1, 2, 3, 4, 5, 6, 7, 8, 30}) {
        AttentionProblem wide({"", {queries}, {600}, 2, 2, d, d, true});
        const Tensor k = kept_in(wide.k, DType::q8_0), v = kept_in(wide.v, DType::q8_0);
        Tensor out = Tensor::empty(wide.out.shape()),
               logsumexp = Tensor::empty(wide.logsumexp.shape());
        attention_forward({wide.q, k, v, wide.spans, wide.options}, out, logsumexp);
        wide.k = widened(k);
        wide.v = widened(v);
        attention_forward(wide.in(), wide.out, wide.logsumexp);
        EXPECT_TRUE(same_bits(out, wide.out)) << target << ", d " << d << ", " << queries;
        EXPECT_TRUE(same_bits(logsumexp, wide.logsumexp))
            << target << ", d " << d << ", " << queries;
      }
  });
}

TEST(AttentionRows, Bf16KeysEqualTheirF32ValuesBesideF32Queries) {
  on_every_target([](const std::string& target) {
    for (const int64_t d : {64, 24, 20})
      for (const int32_t queries : {1, 2, 3, 4, 5, 6, 7, 8, 30, 50}) {
        AttentionProblem wide({"", {queries}, {600}, 2, 2, d, d, true});
        const Tensor k = in_dtype(wide.k, DType::bf16), v = in_dtype(wide.v, DType::bf16);
        Tensor out = Tensor::empty(wide.out.shape()),
               logsumexp = Tensor::empty(wide.logsumexp.shape());
        attention_forward({wide.q, k, v, wide.spans, wide.options}, out, logsumexp);
        wide.k = widened(k);
        wide.v = widened(v);
        attention_forward(wide.in(), wide.out, wide.logsumexp);
        EXPECT_LT(difference(out, wide.out), 4e-6) << target << ", d " << d << ", " << queries;
        EXPECT_LT(difference(logsumexp, wide.logsumexp), 1e-6) << target << ", d " << d;
      }
  });
}

TEST(AttentionRows, CachedKeysOfEveryTypeAgreeWithReference) {
  on_every_target([](const std::string& target) {
    for (const DType queries : {DType::f32, DType::bf16})
      for (const DType keys : {DType::bf16, DType::q8_0})
        for (const int32_t rows : {1, 3, 40}) {
          AttentionProblem c({"", {rows}, {600}, 4, 2, 64, 32, true, 0.0f, true, queries}, 2.0f);
          c.k = kept_in(c.k, keys);
          c.v = kept_in(c.v, keys);
          attention_forward(c.in(), c.out, c.logsumexp);
          Tensor out = Tensor::empty(c.out.shape(), queries);
          Tensor logsumexp = Tensor::empty(c.logsumexp.shape());
          reference::attention_forward(c.in(), out, logsumexp);
          EXPECT_LT(difference(c.out, out), queries == DType::f32 ? 1e-5 : 8e-3)
              << target << ", keys in " << name_of(keys) << ", " << rows << " queries";
          EXPECT_LT(difference(c.logsumexp, logsumexp), 1e-5)
              << target << ", keys in " << name_of(keys) << ", " << rows << " queries";
        }
  });
}

TEST(AttentionRows, RefusesKeysThatAreNotWholeBlocks) {
  AttentionProblem c({"", {2}, {2}, 2, 2, 16, 32});
  c.k = kept_in(c.k, DType::q8_0);
  c.v = kept_in(c.v, DType::q8_0);
  EXPECT_THROW(cpu::attention_forward(c.in(), c.out, c.logsumexp), Error);
}

TEST(AttentionWindow, GradientsAreEqualForAllWidthsBeyondTheSequence) {
  AttentionProblem wide({"", {100}, {120}, 2, 2, 32, 32, true});
  wide.options.window = 120;
  AttentionProblem widest({"", {100}, {120}, 2, 2, 32, 32, true});
  widest.options.window = std::numeric_limits<int64_t>::max();
  for (AttentionProblem* problem : {&wide, &widest}) {
    attention_forward(problem->in(), problem->out, problem->logsumexp);
    attention_backward(problem->in(), problem->out, problem->logsumexp, problem->d_out,
                       problem->gradients());
  }
  EXPECT_TRUE(same_bits(wide.dq, widest.dq));
  EXPECT_TRUE(same_bits(wide.dk, widest.dk));
  EXPECT_TRUE(same_bits(wide.dv, widest.dv));
}

TEST(AttentionWindow, WiderThanTheSequenceChangesNothing) {
  for (const int64_t window : {int64_t{120}, std::numeric_limits<int64_t>::max()}) {
    SCOPED_TRACE(window);
    AttentionProblem plain({"", {100}, {120}, 2, 2, 32, 32, true}), windowed = plain;
    windowed.options.window = window;
    windowed.out = Tensor::empty(plain.out.shape());
    attention_forward(plain.in(), plain.out, plain.logsumexp);
    attention_forward(windowed.in(), windowed.out, windowed.logsumexp);
    EXPECT_TRUE(same_bits(plain.out, windowed.out));
  }
}

TEST(AttentionBias, AConstantBiasChangesNoWeight) {
  AttentionCase c{"", {100}, {120}, 2, 2, 32, 32, true};
  AttentionProblem plain(c);
  c.reach = 1;
  AttentionProblem biased(c);
  attention_forward(plain.in(), plain.out, plain.logsumexp);
  attention_forward(biased.in(), biased.out, biased.logsumexp);
  EXPECT_LT(difference(biased.out, plain.out), 1e-5);
}

TEST(AttentionWindow, KeysOutsideTheWindowAreNotRead) {
  AttentionProblem problem({"", {9}, {400}, 2, 1, 32, 32, true});
  problem.options.window = 70;  // the queries at 391 to 399 see keys from 322 on
  attention_forward(problem.in(), problem.out, problem.logsumexp);
  const Tensor before = problem.out.clone();
  for (Tensor* x : {&problem.k, &problem.v})
    std::fill(x->data<float>(), x->data<float>() + 320 * x->cols(),
              std::numeric_limits<float>::quiet_NaN());
  attention_forward(problem.in(), problem.out, problem.logsumexp);
  EXPECT_TRUE(same_bits(problem.out, before));
}

TEST(AttentionRows, DoNotDependOnOtherRows) {
  for (const int32_t d : {64, 20}) {
    AttentionProblem whole({"", {131}, {131}, 2, 1, d, d});
    attention_forward(whole.in(), whole.out, whole.logsumexp);
    for (const auto& [begin, end] : {std::pair{0, 1}, {5, 7}, {5, 8}, {40, 49}, {3, 130}})
      EXPECT_TRUE(same_bits(some_rows(whole, begin, end, 131), whole.out.row_slice(begin, end)))
          << begin << " to " << end;
  }
}

TEST(AttentionRows, DoNotDependOnTheBatch) {
  const AttentionCase batch{"", {30, 70, 1}, {30, 70, 40}, 4, 2, 32, 32};
  AttentionProblem all(batch);
  attention_forward(all.in(), all.out, all.logsumexp);
  for (size_t b = 0; b < 3; ++b) {
    const int32_t begin = all.spans.q_offsets[b], end = all.spans.q_offsets[b + 1];
    const Tensor q = all.q.row_slice(begin, end);
    const AttentionMetadata spans{
        {0, end - begin}, {all.spans.kv_begin[b]}, {all.spans.kv_end[b]}, {}};
    Tensor out = Tensor::empty({end - begin, all.out.cols()});
    Tensor logsumexp = Tensor::empty({end - begin, all.logsumexp.cols()});
    attention_forward({q, all.k, all.v, spans, all.options}, out, logsumexp);
    EXPECT_TRUE(same_bits(out, all.out.row_slice(begin, end))) << "sequence " << b;
  }
}

TEST(AttentionRows, SharedKeysEqualCopiedKeys) {
  // Four beams read the same 37 keys, and the second sentence's two beams 20 others.
  AttentionProblem copied({"", {1, 1, 1, 1, 1, 1}, {37, 37, 37, 37, 20, 20}, 2, 2, 64, 64});
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
  attention_forward(copied.in(), copied.out, copied.logsumexp);
  AttentionMetadata shared = copied.spans;
  shared.kv_begin = {0, 0, 0, 0, 148, 148};
  shared.kv_end = {37, 37, 37, 37, 168, 168};
  for (const bool causal : {false, true}) {
    AttentionOptions options = copied.options;
    options.causal = causal;  // a single query sees all keys either way
    Tensor out = Tensor::empty(copied.out.shape());
    Tensor logsumexp = Tensor::empty(copied.logsumexp.shape());
    attention_forward({copied.q, copied.k, copied.v, shared, options}, out, logsumexp);
    EXPECT_TRUE(same_bits(out, copied.out));
  }
}

}  // namespace
}  // namespace heed::kernels
