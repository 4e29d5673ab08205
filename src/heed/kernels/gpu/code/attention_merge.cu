#include "heed/kernels/gpu/code/attention_rows.h"
#include "heed/kernels/gpu/code/block_sum.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

HEED_DEVICE float key_at(const AttentionArguments& in, int64_t at) {
  return in.key_type == KeyType::bf16 ? wide(static_cast<const Bf16*>(in.k)[at])
                                      : static_cast<const float*>(in.k)[at];
}

}  // namespace

/// A block a row: adds its splits in order. Items are of all splits of their rows.
HEED_GPU_KERNEL(attention_merge, AttentionArguments, in) {
  const int block = static_cast<int>(block_x()), g = block % in.n_kv_heads;
  const AttentionItem& item = in.items[block / in.n_kv_heads];
  const int r = static_cast<int>(block_y());
  if (r >= item.rows) return;
  const AttentionGroup group(in, item.sequence, g);
  const int row = item.row_begin + r, splits = item.split_end - item.split_begin;
  const int64_t index = group.index(in, row);
  const int threads = static_cast<int>(block_threads()), thread = static_cast<int>(thread_index());
  for (int column = thread; column < in.dv; column += threads) {
    RowSoftmax all;
    float value = 0.0f;
    for (int s = 0; s < splits; ++s) {
      const float* const from = partial_row(in, g, item.partial + s * item.tile_rows + r);
      const RowSoftmax split{from[in.partial_floats - 2], from[in.partial_floats - 1]};
      value = merge(all, split)(value, from[column]);
    }
    const RowResult result(in, all, group.head(row));
    put_result(in, index * in.dv + column, result(value));
    if (column == 0) in.logsumexp[index] = result.logsumexp;
  }
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
