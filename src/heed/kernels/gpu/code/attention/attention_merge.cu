#include "heed/kernels/gpu/code/attention/attention_rows.h"
#include "heed/kernels/gpu/code/block_sum.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

HEED_DEVICE float key_at(const AttentionArguments& in, int64_t at) {
  return in.key_type == KeyType::bf16 ? wide(static_cast<const Bf16*>(in.k)[at])
                                      : static_cast<const float*>(in.k)[at];
}

/// A row whose tiles a block adds in order.
struct MergedRow {
  static constexpr int kAtOnce = 16;  // values on their way

  /// Of kMergeThreads tiles.
  struct Shared {
    float largest[kMergeThreads], sums[kMergeThreads];
    MergeFactors factors[kMergeThreads];
  };

  const AttentionArguments& in;
  const AttentionItem& item;
  const int r, thread;
  const AttentionGroup group;
  const TileRange tiles;
  Shared& shared;
  RowSoftmax all;
  float value;

  HEED_DEVICE MergedRow(const AttentionArguments& arguments, const AttentionItem& of, int g)
      : in(arguments),
        item(of),
        r(static_cast<int>(block_y())),
        thread(static_cast<int>(thread_index())),
        group(arguments, of.sequence, g),
        tiles(arguments, group, of),
        shared(*shared_memory<Shared>()) {}

  HEED_DEVICE const float* partial(int tile) const {
    return partial_row(in, group.head_group,
                       item.partial + (tile - item.tile_begin) * item.rows + r);
  }

  HEED_DEVICE void load(int first, int end, int column, float (&values)[kAtOnce]) const {
    HEED_UNROLL
    for (int i = 0; i < kAtOnce; ++i)
      values[i] = first + i < end ? partial(first + i)[column] : 0.0f;
  }

  /// The factors of tiles [first, end), each by a thread.
  HEED_DEVICE void find_factors(int first, int end) {
    RowSoftmax tile;
    if (first + thread < end) {
      const float* const from = partial(first + thread);
      tile = {from[in.partial_floats - 2], from[in.partial_floats - 1]};
    }
    shared.largest[thread] = tile.largest;
    shared.sums[thread] = tile.sum;
    synchronize();
    RowSoftmax before = all;
    for (int i = 0; i < thread; ++i)
      before.largest = shared.largest[i] > before.largest ? shared.largest[i] : before.largest;
    shared.factors[thread] = merge(before, tile);
    synchronize();
  }

  HEED_DEVICE void add(int column) {
    all = RowSoftmax();
    value = 0.0f;
    for (int first = tiles.begin; first < tiles.end; first += kMergeThreads) {
      const int end = smaller(first + kMergeThreads, tiles.end);
      float values[kAtOnce];
      load(first, end, column, values);
      find_factors(first, end);
      for (int tile = first; tile < end; tile += kAtOnce) {
        if (tile > first) load(tile, end, column, values);
        HEED_UNROLL
        for (int i = 0; i < kAtOnce; ++i) {
          if (tile + i >= end) break;
          const int at = tile + i - first;
          const MergeFactors factors = shared.factors[at];
          value = factors(value, values[i]);
          all.sum = factors(all.sum, shared.sums[at]);
          all.largest = shared.largest[at] > all.largest ? shared.largest[at] : all.largest;
        }
      }
      synchronize();
    }
  }

  HEED_DEVICE void run() {
    if (r >= item.rows) return;
    const int row = item.row_begin + r;
    const int64_t index = group.index(in, row);
    for (int first = 0; first < in.dv; first += kMergeThreads) {
      const int column = first + thread;
      add(smaller(column, in.dv - 1));
      const RowResult result(in, all, group.head(row));
      if (column < in.dv) put_result(in, index * in.dv + column, result(value));
      if (column == 0) in.logsumexp[index] = result.logsumexp;
    }
  }
};

}  // namespace

/// A block a row. Items are of all tiles of their rows.
HEED_GPU_KERNEL(attention_merge, AttentionArguments, in) {
  const int block = static_cast<int>(block_x());
  MergedRow(in, in.items[block / in.n_kv_heads], block % in.n_kv_heads).run();
}

/// A block a query and a head.
HEED_GPU_KERNEL(attention_weights_rows, AttentionWeightsArguments, with) {
  const AttentionArguments& in = with.of;
  float* const shared = shared_memory<float>();
  const int threads = static_cast<int>(block_threads()), thread = static_cast<int>(thread_index());
  const int h = static_cast<int>(block_y()), query = static_cast<int>(block_x());
  const int heads = in.n_heads / in.n_kv_heads;
  const AttentionGroup group(in, with.sequence, h / heads);
  const int row = (with.first_query + query) * heads + h % heads;
  const VisibleKeys visible(in, group, row);
  const Scores scores(in);
  const int64_t q = group.index(in, row) * in.d;
  float* const weights = with.weights + (static_cast<int64_t>(h) * with.queries + query) * with.keys;

  float largest = -INFINITY;
  for (int j = thread; j < with.keys; j += threads) {
    float score = -INFINITY;
    if (visible.has(j)) {
      const int64_t k =
          (group.key_row(in, j) * in.n_kv_heads + group.head_group) * static_cast<int64_t>(in.d);
      float product = 0.0f;
      for (int c = 0; c < in.d; ++c) product = fmaf(query_at(in, q + c), key_at(in, k + c), product);
      score = scores(product, h, group.position(row), j);
    }
    weights[j] = score;
    largest = Max::apply(score, largest);
  }
  if (in.sinks) largest = Max::apply(in.sinks[h] * kLog2E, largest);
  largest = reduce_block<Max>(largest, shared);
  float sum = 0.0f;
  for (int j = thread; j < with.keys; j += threads) sum += exp2_below(weights[j], largest);
  sum = reduce_block<Sum>(sum, shared);
  if (in.sinks) sum += exp2_below(in.sinks[h] * kLog2E, largest);
  for (int j = thread; j < with.keys; j += threads)
    weights[j] = sum > 0.0f ? exp2_below(weights[j], largest) / sum : 0.0f;
}

}  // namespace heed::kernels::gpu
