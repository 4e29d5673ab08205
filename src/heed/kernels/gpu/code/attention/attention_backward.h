#pragma once

#include <cstdint>

// The arguments of the kernels in attention_backward.cu.
namespace heed::kernels::gpu {

/// Query rows or keys of a block.
constexpr int kBackwardTile = 64;
/// Columns of a head for which a block has room, times 1 or 2.
constexpr int kBackwardColumns = 64;
constexpr unsigned kBackwardThreads = 256;

/// Query rows, or keys, of one sequence from `first` on, counted from its first.
struct BackwardTile {
  int q_begin, queries, kv_begin, keys, first;
};

/// A block for each tile (x), head (y) and range of columns (z): query rows and query heads for dq,
/// keys and key/value heads for dk and dv. q, dq [Nq, H d], k, dk [Nk, G d], v, dv [Nk, G width_v]
/// and d_out [Nq, H width_v] of f32 or bf16; logsumexp and means [Nq, H].
struct AttentionBackwardArguments {
  const void *q, *k, *v, *d_out;
  const float *logsumexp, *means;
  void *dq, *dk, *dv;
  const BackwardTile* tiles;
  int n_heads, heads_per_group, d, width_v;
  float scale, soft_cap;
  int window;  // 0: none
  bool causal;
  const float* relative_bias;  // [H, 2 reach - 1], or null
  float* bias_parts;           // [tiles of keys, H, 2 reach - 1], or null
  int reach;
  float kept;               // 1 / (1 - dropout)
  uint32_t drop_threshold;  // 0: no dropout
  uint64_t dropout_key;     // mixed once
};

/// A warp a row: means[r] = the dot product of the rows of out and d_out [rows, columns].
struct BackwardMeansArguments {
  const void *out, *d_out;
  float* means;
  int64_t rows;
  int columns;
};

/// A block a head: d_sinks[h] -= the sum of exp(sinks[h] - logsumexp[n, h]) means[n, h].
struct SinkGradientArguments {
  const float *sinks, *logsumexp, *means;
  float* d_sinks;
  int64_t rows;
  int n_heads;
};

/// A thread an element: d_bias[i] = the sum of parts[p, i] in the order of p.
struct BiasGradientArguments {
  const float* parts;
  float* d_bias;
  int64_t parts_count;
  int elements;
};

}  // namespace heed::kernels::gpu
