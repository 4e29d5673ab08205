#pragma once

#include "heed/gpu/code/operations.h"
#include "heed/kernels/counter_hash.h"
#include "heed/kernels/gpu/code/attention/attention.h"
#include "heed/kernels/gpu/code/attention/exp.h"
#include "heed/kernels/gpu/code/numbers.h"

// What all kernels of attention compute alike for a row: which keys it sees, scores, the sums of
// tiles, results.

namespace heed::kernels::gpu {

HEED_DEVICE int smaller(int a, int b) { return a < b ? a : b; }
HEED_DEVICE int larger(int a, int b) { return a > b ? a : b; }

/// A sequence and a key/value head.
struct AttentionGroup {
  int head_group, heads;  // g; H / G
  int q_begin, queries, kv_begin, keys;

  HEED_DEVICE AttentionGroup(const AttentionArguments& in, int sequence, int group)
      : head_group(group),
        heads(in.n_heads / in.n_kv_heads),
        q_begin(in.q_offsets[sequence]),
        queries(in.q_offsets[sequence + 1] - q_begin),
        kv_begin(in.kv_begin[sequence]),
        keys(in.kv_end[sequence] - kv_begin) {}

  HEED_DEVICE int head(int row) const { return head_group * heads + row % heads; }
  /// Of a row, in q, out and logsumexp: rows of H heads.
  HEED_DEVICE int64_t index(const AttentionArguments& in, int row) const {
    return static_cast<int64_t>(q_begin + row / heads) * in.n_heads + head(row);
  }
  HEED_DEVICE int position(int row) const { return keys - queries + row / heads; }
  /// The row of k and v that holds a key.
  HEED_DEVICE int64_t key_row(const AttentionArguments& in, int key) const {
    return in.kv_rows ? in.kv_rows[kv_begin + key] : kv_begin + key;
  }
};

/// The keys [begin, end) that a row sees.
struct VisibleKeys {
  int begin, end;

  HEED_DEVICE VisibleKeys(const AttentionArguments& in, const AttentionGroup& group, int row) {
    const int position = group.position(row);
    begin = in.window > 0 ? larger(position - in.window + 1, 0) : 0;
    end = group.keys;
    if (in.causal)
      end = larger(smaller(end, position + 1), 0);
    else if (in.window > 0)
      end = larger(smaller(end, position + in.window), 0);
  }
  HEED_DEVICE bool has(int key) const { return begin <= key && key < end; }
};

/// The tiles of keys [begin, end) that the rows [first, last] of an item see.
struct TileRange {
  int begin, end;

  HEED_DEVICE TileRange(const AttentionArguments& in, const AttentionGroup& group,
                        const AttentionItem& item) {
    const VisibleKeys first(in, group, item.row_begin);
    const VisibleKeys last(in, group, item.row_begin + item.rows - 1);
    begin = larger(first.begin / kTileKeys, item.tile_begin);
    end = smaller((last.end + kTileKeys - 1) / kTileKeys, item.tile_end);
  }
};

/// A score in units of log2(e), so that its weight is a power of two.
struct Scores {
  const AttentionArguments& in;
  float scale;
  bool adjusts;

  HEED_DEVICE explicit Scores(const AttentionArguments& arguments)
      : in(arguments),
        scale(arguments.scale * kLog2E),
        adjusts(arguments.soft_cap > 0.0f || arguments.relative_bias != nullptr) {}

  HEED_DEVICE float operator()(float product, int head, int position, int key) const {
    if (!adjusts) return product * scale;
    float score = product * in.scale;
    if (in.soft_cap > 0.0f) score = in.soft_cap * tanhf(score / in.soft_cap);
    if (in.relative_bias) {
      const int last = in.bias_reach - 1;
      const int distance = smaller(larger(key - position, -last), last) + last;
      score += in.relative_bias[static_cast<int64_t>(head) * (2 * last + 1) + distance];
    }
    return score * kLog2E;
  }
};

/// Drops weights of a row.
struct RowDropout {
  uint64_t key = 0;
  uint32_t threshold = 0;

  HEED_DEVICE RowDropout() {}
  HEED_DEVICE RowDropout(const AttentionArguments& in, int64_t index)
      : key(mixed(in.dropout_key ^ static_cast<uint64_t>(index))), threshold(in.drop_threshold) {}
  HEED_DEVICE float operator()(float weight, int column) const {
    const bool drops =
        threshold != 0 && counter_hash(key, static_cast<uint64_t>(column)) < threshold;
    return drops ? 0.0f : weight;
  }

 private:
  /// mix64() of base/random.h.
  static HEED_DEVICE uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
};

/// The softmax of the keys so far: the largest score, and the sum of 2^(score - largest).
struct RowSoftmax {
  float largest = -INFINITY, sum = 0.0f;
};

/// How the values of a row's earlier tiles and those of its next one are added.
struct MergeFactors {
  float before, next;

  HEED_DEVICE float operator()(float earlier, float later) const {
    return next == 0.0f ? earlier : fmaf(later, next, earlier * before);
  }
};

/// Adds the softmax of the next tile to that of the earlier ones.
HEED_DEVICE MergeFactors merge(RowSoftmax& earlier, const RowSoftmax& later) {
  if (later.largest == -INFINITY) return {1.0f, 0.0f};
  if (earlier.largest == -INFINITY) {
    earlier = later;
    return {0.0f, 1.0f};
  }
  const float largest = later.largest > earlier.largest ? later.largest : earlier.largest;
  const MergeFactors factors{exp2_below(earlier.largest, largest),
                             exp2_below(later.largest, largest)};
  earlier.largest = largest;
  earlier.sum = factors(earlier.sum, later.sum);
  return factors;
}

/// The factor of a row's values, and its logsumexp, from the softmax of all its keys.
struct RowResult {
  float factor, logsumexp;

  HEED_DEVICE RowResult(const AttentionArguments& in, RowSoftmax all, int head) {
    if (all.largest == -INFINITY) {
      factor = 0.0f;
      logsumexp = in.sinks ? in.sinks[head] : -INFINITY;
      return;
    }
    float rescale = 1.0f;
    if (in.sinks) {
      const float sink = in.sinks[head] * kLog2E;
      const float largest = sink > all.largest ? sink : all.largest;
      rescale = exp2_below(all.largest, largest);
      all.sum = all.sum * rescale + exp2_below(sink, largest);
      all.largest = largest;
    }
    factor = rescale / (all.sum * in.keep);
    logsumexp = all.largest * kLn2 + logf(all.sum);
  }

  /// Adding zero makes one zero of both: masked keys change the sign of a zero.
  HEED_DEVICE float operator()(float value) const {
    return factor == 0.0f ? 0.0f : value * factor + 0.0f;
  }
};

/// The sums of a row over a tile: dv values, and at the end the softmax.
HEED_DEVICE float* partial_row(const AttentionArguments& in, int group, int row) {
  return in.partials + (static_cast<int64_t>(group) * in.partial_rows + row) * in.partial_floats;
}
HEED_DEVICE void put_softmax(const AttentionArguments& in, float* partial, const RowSoftmax& of) {
  partial[in.partial_floats - 2] = of.largest;
  partial[in.partial_floats - 1] = of.sum;
}

HEED_DEVICE void put_result(const AttentionArguments& in, int64_t at, float value) {
  if (in.q_is_bf16)
    static_cast<Bf16*>(in.out)[at] = narrow<Bf16>(value);
  else
    static_cast<float*>(in.out)[at] = value;
}
HEED_DEVICE float query_at(const AttentionArguments& in, int64_t at) {
  return in.q_is_bf16 ? wide(static_cast<const Bf16*>(in.q)[at])
                      : static_cast<const float*>(in.q)[at];
}

}  // namespace heed::kernels::gpu
