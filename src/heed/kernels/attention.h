#pragma once

#include <cstdint>
#include <vector>

#include "heed/base/random.h"
#include "heed/kernels/backend.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// Which query rows attend to which key/value rows: B sequences laid end to end, no padding.
/// Sequence b owns the query rows [q_offsets[b], q_offsets[b+1]) and the keys numbered
/// [kv_begin[b], kv_end[b]); key number j is row kv_rows[j] of k and v, or row j where kv_rows is
/// empty. Several sequences may share keys (the beams of one sentence), and kv_rows lets a
/// hypothesis own a path through a common cache.
struct AttentionSpans {
  std::vector<int32_t> q_offsets;  // [B+1]
  std::vector<int32_t> kv_begin;   // [B]
  std::vector<int32_t> kv_end;     // [B]
  std::vector<int32_t> kv_rows;    // empty, or one row number per key number

  int64_t sequences() const { return static_cast<int64_t>(kv_begin.size()); }

  /// Self-attention over the sequences `offsets` [B+1].
  static AttentionSpans self(const std::vector<int32_t>& offsets);
  /// Cross-attention: sequence b of `q_offsets` reads sequence b of `kv_offsets`.
  static AttentionSpans cross(const std::vector<int32_t>& q_offsets,
                              const std::vector<int32_t>& kv_offsets);
};

struct AttentionOptions {
  int64_t n_heads = 1;     // H
  int64_t n_kv_heads = 1;  // G, a divisor of H: query head h reads key/value head h / (H / G)
  float scale = 1.0f;      // 1 / sqrt(d) in the paper
  /// The future is masked: the last query sees every key of its sequence, the one before it all but
  /// the last, and so on.
  bool causal = false;
  /// With causal: a query at place p of its sequence's keys sees only the keys j with p - j <
  /// window (Beltagy et al. 2020; Mistral, 2023); 0: all before it.
  int64_t window = 0;
  /// Scaled scores s become soft_cap tanh(s / soft_cap) (Gemma 2, 2024); 0: they do not.
  float soft_cap = 0.0f;
  float dropout = 0.0f;      // probability that a weight is dropped; the others grow by 1 / (1 - p)
  uint64_t dropout_key = 0;  // names the mask: the same key drops the same weights
};

/// Which mask the weights of query row n and head h (row = n * H + h) are dropped by: the weight of
/// key j, counted from the first key of its sequence, is dropped when
/// counter_hash(attention_dropout_key(dropout_key, row), j) < drop_threshold(dropout). Dropout acts
/// on the normalised weights, so the softmax's denominator knows nothing of it.
inline uint64_t attention_dropout_key(uint64_t dropout_key, int64_t row) {
  return mix64(mix64(dropout_key) ^ static_cast<uint64_t>(row));
}

/// softmax(Q K^T scale + mask) V per head (Vaswani et al. 2017, eq. 1), tiled with an online
/// softmax (Dao et al. 2022): memory beyond the arguments is linear in neither length. q [Nq, H d],
/// k [Nk, G d], v [Nk, G dv] of one dtype (f32 or bf16), or keys and values of a smaller one:
/// bf16 beside f32 queries, or q8_0 (then d and dv are multiples of 32; throws Error otherwise);
/// out [Nq, H dv] of the dtype of q; log_sum [Nq, H] f32: the logarithm of each softmax's
/// denominator, for the backward pass. A query that sees no key yields zeros and a log_sum of minus
/// infinity. A row's result depends only on its own sequence: not on the batch, not on the number
/// of query rows beside it. With a window, keys that no row of a block sees cost nothing. Few rows
/// and many keys (decoding) keep all threads busy, too.
///
/// With tiles for bf16 (AMX), keys and values in bf16 are multiplied in these, as they are; queries
/// of f32 as the exact sum of three numbers of bf16, weights as that of two (relative error 2^-17),
/// and beside queries of bf16 weights are rounded to bf16.
struct AttentionForward {
  const Tensor &q, &k, &v;
  const AttentionSpans& spans;
  const AttentionOptions& options;
  /// [H, 2 R - 1] f32 or absent: relative_bias[h, clamp(j - p, -(R - 1), R - 1) + R - 1] is added
  /// to the scaled and capped score of key j and the query at place p (Raffel et al. 2020), p being
  /// the place that the mask gives it: the last query's is that of the last key.
  Tensor relative_bias = {};
};
HEED_KERNEL(void, attention_forward, (const AttentionForward& in, Tensor& out, Tensor& log_sum),
            (in, out, log_sum))

/// Gradients of attention_forward: dq, dk, dv are written (not added to), in the dtype of q.
/// The weights are computed again from log_sum; a thread holds at most 16 MiB for a long sequence.
/// Rows of k and v that no sequence reads get zeros. Requires spans whose key ranges do not overlap
/// (training never shares them); throws Error on kv_rows. d_relative_bias [H, 2 R - 1] f32 is
/// written where defined; its sums are in one order whatever the threads.
struct AttentionGradients {
  Tensor &dq, &dk, &dv;
  Tensor d_relative_bias = {};
};
HEED_KERNEL(void, attention_backward,
            (const AttentionForward& in, const Tensor& out, const Tensor& log_sum,
             const Tensor& d_out, AttentionGradients gradients),
            (in, out, log_sum, d_out, gradients))

/// The weights themselves, for one sequence, for those who want to look: [H, Tq, Tk] f32, each row
/// between 0 and 1 with the sum 1; zeros where the mask is. Dropout is not applied.
HEED_KERNEL(Tensor, attention_weights, (const AttentionForward& in, int64_t sequence),
            (in, sequence))

}  // namespace heed::kernels
