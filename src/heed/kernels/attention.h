#pragma once

#include <cstdint>
#include <vector>

#include "heed/base/random.h"
#include "heed/kernels/kept_on_device.h"
#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// Which query rows attend to which key/value rows: B sequences laid end to end, no padding.
/// Sequence b has the query rows [q_offsets[b], q_offsets[b+1]) and the keys with the indices
/// [kv_begin[b], kv_end[b]). Key j is row kv_rows[j] of k and v, or row j if kv_rows is empty.
/// Several sequences may share keys (the beams of one sentence); with kv_rows the hypotheses of a
/// beam are paths through a common cache.
struct AttentionMetadata {
  std::vector<int32_t> q_offsets;  // [B+1]
  std::vector<int32_t> kv_begin;   // [B]
  std::vector<int32_t> kv_end;     // [B]
  std::vector<int32_t> kv_rows;    // empty, or one row per key
  /// What kernels of a GPU made of the above for the other layers of a pass. Whoever changes the
  /// above after a kernel has read them calls forget().
  KeptOnDevice kept = {};

  int64_t sequences() const { return static_cast<int64_t>(kv_begin.size()); }

  /// Self-attention over the sequences `offsets` [B+1].
  static AttentionMetadata self(const std::vector<int32_t>& offsets) {
    return cross(offsets, offsets);
  }
  /// Cross-attention: sequence b of `q_offsets` reads sequence b of `kv_offsets`.
  static AttentionMetadata cross(const std::vector<int32_t>& q_offsets,
                                 const std::vector<int32_t>& kv_offsets) {
    return {q_offsets,
            {kv_offsets.begin(), kv_offsets.end() - 1},
            {kv_offsets.begin() + 1, kv_offsets.end()},
            {}};
  }
};

struct AttentionOptions {
  int64_t n_heads = 1;     // H
  int64_t n_kv_heads = 1;  // G, a divisor of H: query head h reads key/value head h / (H / G)
  float scale = 1.0f;      // 1 / sqrt(d) in the paper
  /// Masks the future: the last query sees every key of its sequence, the query before it all but
  /// the last key, and so on.
  bool causal = false;
  /// A query at position p sees only the keys j with p - j < window and, without causal, also
  /// j - p < window (Beltagy et al. 2020; Mistral, 2023; ModernBERT, 2024); 0: no window.
  int64_t window = 0;
  /// Scaled scores s become soft_cap tanh(s / soft_cap) (Gemma 2, 2024); 0: no cap.
  float soft_cap = 0.0f;
  float dropout = 0.0f;      // probability p that a weight is dropped; others grow by 1 / (1 - p)
  uint64_t dropout_key = 0;  // selects the mask: the same key drops the same weights
};

/// The key of the dropout mask of query row n and head h, where row = n * H + h. The weight of key
/// j, counted from the first key of its sequence, is dropped if
/// counter_hash(attention_dropout_key(dropout_key, row), j) < drop_threshold(dropout). Dropout acts
/// on the normalised weights; the denominator of the softmax includes those dropped.
inline uint64_t attention_dropout_key(uint64_t dropout_key, int64_t row) {
  return mix64(mix64(dropout_key) ^ static_cast<uint64_t>(row));
}

/// q [Nq, H d], k [Nk, G d], v [Nk, G dv].
struct AttentionForward {
  const Tensor &q, &k, &v;
  const AttentionMetadata& spans;
  const AttentionOptions& options;
  /// [H, 2 R - 1] f32 or undefined: relative_bias[h, clamp(j - p, -(R - 1), R - 1) + R - 1] is
  /// added to the scaled and capped score of key j and the query at position p (Raffel et al.
  /// 2020). The last query of a sequence has the position of the last key.
  Tensor relative_bias = {};
  /// [H] f32 or undefined: head h has one more score, sinks[h], whose key has the value 0. It takes
  /// a part of the softmax, so that a query may attend to nothing (gpt-oss, 2025).
  Tensor sinks = {};
  /// [H, P] f32 or undefined: what is added to the scaled and capped score of each pair of a query
  /// and a key; the pairs of the sequences lie one after the other, each a matrix of queries and
  /// keys (DeBERTa, 2021). Not on a GPU.
  Tensor pair_bias = {};
};

/// dq, dk, dv, of the dtype of q, d_relative_bias [H, 2 R - 1] f32 and d_pair_bias [H, P] f32 are
/// written; d_sinks [H] f32 is added to. The last three are computed if defined.
struct AttentionGradients {
  Tensor &dq, &dk, &dv;
  Tensor d_relative_bias = {};
  Tensor d_sinks = {};
  Tensor d_pair_bias = {};
};

/// Some queries of one sequence: [begin, end), counted from its first.
struct QueryRange {
  int64_t sequence = 0;
  int64_t begin = 0, end = 0;

  int64_t size() const { return end - begin; }
};

/// softmax(Q K^T scale + mask) V per head (Vaswani et al. 2017, eq. 1), tiled with an online
/// softmax (Dao et al. 2022), so that the [Nq, Nk] weights are never stored.
///
/// q is f32 or bf16. k and v have the dtype of q, or are bf16 with f32 queries, or are q8_0, for
/// which d and dv must be multiples of 32 (throws Error otherwise). out [Nq, H dv] has the dtype of
/// q. logsumexp [Nq, H] f32, the logarithm of each softmax's denominator, is for the backward
/// pass. A query that sees no key yields zeros and a logsumexp of minus infinity (or its sink).
///
/// The result of a row depends only on its own sequence, not on the rest of the batch or on the
/// number of query rows beside it. Keys outside the window of all rows of a block cost nothing.
/// Decode attention, few rows with many keys, is split over the keys, so that all threads work
/// (split-KV).
///
/// On machines with AMX, bf16 keys and values are multiplied in tiles. f32 queries are split into
/// three bf16 numbers, whose sum is exact, and their weights into two (relative error 2^-17). With
/// bf16 queries, weights are rounded to bf16. A GPU rounds them likewise where queries, keys and
/// values are bf16.
HEED_KERNEL(attention_forward, void(const AttentionForward& in, Tensor& out, Tensor& logsumexp));

/// Gradients of attention_forward, whose weights are recomputed from logsumexp; a thread holds at
/// most 16 MiB for a long sequence. Rows of k and v that no sequence reads get zeros. The key
/// ranges of the sequences must not overlap. Throws Error on kv_rows. The order of all sums is
/// fixed.
HEED_KERNEL(attention_backward,
            void(const AttentionForward& in, const Tensor& out, const Tensor& logsumexp,
                 const Tensor& d_out, AttentionGradients gradients));

/// The attention weights of a range of queries: [H, range.size(), Tk] f32. Each row is between 0
/// and 1 with the sum 1 (less with a sink); masked keys have the weight 0. Dropout is not applied.
/// A row does not depend on the range. k has the dtype of q, or is bf16 with f32 queries.
HEED_KERNEL(attention_weights, Tensor(const AttentionForward& in, const QueryRange& range));

}  // namespace heed::kernels
