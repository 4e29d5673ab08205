#pragma once

#include <cstdint>

// The arguments of the kernels in attention_*.cu.
//
// The rows of a sequence and a key/value head are its queries times the H / G query heads that read
// it: row r is head r % (H / G) of the group and query r / (H / G). Keys are counted from the first
// of the sequence. Every row adds its keys in the same order, whichever kernel computes it: each
// tile of kTileKeys keys has sums of its own, and those are added to the sums of the row, in order.
// So its bits do not depend on the rows beside it, nor on what block computes which tile.
namespace heed::kernels::gpu {

constexpr int kTileKeys = 64;
constexpr int kMergeThreads = 128;
/// Of attention_few_*: halves of tiles, keys or values, in shared memory, and what else is there.
constexpr int kFewHalves = 3, kFewExchangedBytes = 3328;

/// What a block computes: `rows` rows of a sequence from row_begin on, and tiles [tile_begin,
/// tile_end) of its keys. `partial`: the results are unfinished, and the sums of the i-th row over
/// the t-th of these tiles are number partial + t rows + i of those of a key/value head; -1: the
/// tiles are all there are.
struct AttentionItem {
  int sequence;
  int row_begin, rows;
  int tile_begin, tile_end;
  int partial;
};

enum class KeyType { f32, bf16, q8_0 };

struct AttentionArguments {
  const void *q, *k, *v;
  void* out;
  float* logsumexp;
  const float *relative_bias, *sinks;  // or null
  float* partials;                     // [G, partial_rows, partial_floats]
  const AttentionItem* items;
  const int *q_offsets, *kv_begin, *kv_end, *kv_rows;
  int partial_rows, partial_floats;
  int n_heads, n_kv_heads, d, dv;
  float scale, soft_cap;
  int window;      // 0: none
  int bias_reach;  // R
  bool causal;
  bool q_is_bf16;
  KeyType key_type;
  float keep;               // 1 - dropout
  uint32_t drop_threshold;  // 0: no dropout
  uint64_t dropout_key;     // mixed once
};

/// The weights of the queries from first_query on of one sequence: [H, queries, keys].
struct AttentionWeightsArguments {
  AttentionArguments of;
  float* weights;
  int sequence, first_query, queries, keys;
};

}  // namespace heed::kernels::gpu
