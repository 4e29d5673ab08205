#pragma once

#include "heed/kernels/gpu/code/attention/attention_rows.h"

// 16 rows of attention in the registers of a warp, as mma.m16n8k16 has them: lane l has rows l / 4
// and l / 4 + 8, and of every 8 columns of a result 2 (l % 4) and the next.

namespace heed::kernels::gpu {

struct alignas(8) TwoFloats {
  float x, y;
};

/// A lane's two rows.
struct AttentionFragment {
  const AttentionArguments& in;
  const AttentionItem& item;
  const AttentionGroup group;
  const Scores scores;
  const int lane;
  const int first;       // row of the item: the warp's first
  int begin[2], end[2];  // keys that the rows see

  HEED_DEVICE AttentionFragment(const AttentionArguments& arguments, const AttentionItem& of, int g,
                                int first_row)
      : in(arguments),
        item(of),
        group(arguments, of.sequence, g),
        scores(arguments),
        lane(static_cast<int>(heed::gpu::thread_index()) % 32),
        first(first_row) {
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      begin[r] = end[r] = 0;
      if (!has_row(r)) continue;
      const VisibleKeys visible(in, group, row(r));
      begin[r] = visible.begin;
      end[r] = visible.end;
    }
  }

  HEED_DEVICE int row_of_item(int r) const { return first + lane / 4 + 8 * r; }
  HEED_DEVICE int row(int r) const { return item.row_begin + row_of_item(r); }
  HEED_DEVICE bool has_row(int r) const { return row_of_item(r) < item.rows; }

  /// Calls put(word, bits) with the lane's words of the rows' first kKeys columns.
  template <int kKeys, typename Put>
  HEED_DEVICE void load_queries(const Put& put) const {
    const Bf16* const q = static_cast<const Bf16*>(in.q);
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      const Bf16* const from = q + (has_row(r) ? group.index(in, row(r)) * in.d : 0);
      HEED_UNROLL
      for (int i = 0; i < kKeys / 8; ++i) {
        const int column = 8 * i + lane % 4 * 2;
        const bool exists = has_row(r) && column < in.d;
        put(i / 2 * 4 + r + i % 2 * 2,
            exists ? *reinterpret_cast<const uint32_t*>(from + column) : 0);
      }
    }
  }

  /// Scores of products with 8 kGroups keys from `key` on, minus infinity where a row does not see
  /// the key.
  template <int kGroups>
  HEED_DEVICE void score(int key, float (&products)[kGroups][4]) const {
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      const bool sees_all = begin[r] <= key && key + 8 * kGroups <= end[r];
      const int head = scores.adjusts ? group.head(row(r)) : 0;
      const int position = scores.adjusts ? group.position(row(r)) : 0;
      HEED_UNROLL
      for (int i = 0; i < 2 * kGroups; ++i) {
        const int j = key + i / 2 * 8 + lane % 4 * 2 + i % 2;
        float& product = products[i / 2][2 * r + i % 2];
        if (!scores.adjusts)
          product *= scores.scale;
        else if (has_row(r))
          product = scores(product, head, position, j);
        if (!sees_all && !(begin[r] <= j && j < end[r])) product = -INFINITY;
      }
    }
  }

  /// The largest of a row's scores.
  template <int kGroups>
  HEED_DEVICE static float largest_of(int r, const float (&of)[kGroups][4]) {
    float largest = -INFINITY;
    HEED_UNROLL
    for (int i = 0; i < 2 * kGroups; ++i) {
      const float value = of[i / 2][2 * r + i % 2];
      largest = value > largest ? value : largest;
    }
    HEED_UNROLL
    for (unsigned mask = 1; mask < 4; mask *= 2) {
      const float other = heed::gpu::shuffle_xor(largest, mask);
      largest = other > largest ? other : largest;
    }
    return largest;
  }

  /// Makes a row's weights of its scores, and gives the lane's sum of each 16 keys.
  template <int kGroups>
  HEED_DEVICE void weigh(int key, int r, float largest, float (&scores_of)[kGroups][4],
                         float (&sums)[kGroups / 2]) const {
    const float base = largest == -INFINITY ? 0.0f : largest;
    HEED_UNROLL
    for (int i = 0; i < 2 * kGroups; ++i) {
      float& value = scores_of[i / 2][2 * r + i % 2];
      value = heed::gpu::fast_exp2(value - base);
      sums[i / 4] = i % 4 == 0 ? value : sums[i / 4] + value;
    }
    if (in.drop_threshold == 0 || !has_row(r)) return;
    const RowDropout dropout(in, group.index(in, row(r)));
    HEED_UNROLL
    for (int i = 0; i < 2 * kGroups; ++i) {
      float& weight = scores_of[i / 2][2 * r + i % 2];
      weight = dropout(weight, key + i / 2 * 8 + lane % 4 * 2 + i % 2);
    }
  }

  /// The sum over a tile of a lane's sums of 16 keys each, and of the four lanes of a row.
  static HEED_DEVICE float sum_of_lane(const float (&sums)[kTileKeys / 16]) {
    return ((sums[0] + sums[1]) + sums[2]) + sums[3];
  }
  static HEED_DEVICE float sum_of_row(float sum_of_lane) {
    const float pair = sum_of_lane + heed::gpu::shuffle_xor(sum_of_lane, 1);
    return pair + heed::gpu::shuffle_xor(pair, 2);
  }

  /// Weights of 16 keys as the left operand of mma.
  static HEED_DEVICE void round_weights(const float (&left)[4], const float (&right)[4],
                                        uint32_t (&rounded)[4]) {
    rounded[0] = heed::gpu::bf16_pair(left[0], left[1]);
    rounded[1] = heed::gpu::bf16_pair(left[2], left[3]);
    rounded[2] = heed::gpu::bf16_pair(right[0], right[1]);
    rounded[3] = heed::gpu::bf16_pair(right[2], right[3]);
  }

  /// Writes the rows' results: of sums[n] the columns column_of(n), counted from first_value, and
  /// the next, if they are among the `values` that there are. One warp puts the logsumexp.
  template <int kGroups, typename ColumnOf>
  HEED_DEVICE void put_results(const RowSoftmax (&softmax)[2], const float (&sums)[kGroups][4],
                               int first_value, int values, const ColumnOf& column_of,
                               bool puts_logsumexp) const {
    Bf16* const out = static_cast<Bf16*>(in.out);
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      if (!has_row(r)) continue;
      const RowResult result(in, softmax[r], group.head(row(r)));
      const int64_t index = group.index(in, row(r));
      HEED_UNROLL
      for (int n = 0; n < kGroups; ++n)
        if (column_of(n) < values)
          *reinterpret_cast<uint32_t*>(out + index * in.dv + first_value + column_of(n)) =
              heed::gpu::bf16_pair(result(sums[n][2 * r]), result(sums[n][2 * r + 1]));
      if (puts_logsumexp && lane % 4 == 0) in.logsumexp[index] = result.logsumexp;
    }
  }

  /// Where a row's sums over a tile go.
  HEED_DEVICE float* partial(int tile, int r) const {
    return partial_row(in, group.head_group,
                       item.partial + (tile - item.tile_begin) * item.rows + row_of_item(r));
  }
};

}  // namespace heed::kernels::gpu
