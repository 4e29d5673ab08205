#pragma once

#include "heed/kernels/counter_hash.h"
#include "heed/kernels/gpu/code/attention/attention_backward.h"
#include "heed/kernels/gpu/code/numbers.h"
#include "heed/kernels/gpu/code/vectors.h"

// Tiles of 64 x 64 products in f32: thread t of 256 has the elements of rows 4 (t / 16) to 4 (t /
// 16)
// + 3 and columns 4 (t % 16) to 4 (t % 16) + 3. An operand in shared memory has the summed index
// first: element (k, i) is at k * kTileStride + i.

namespace heed::kernels::gpu {

/// Columns that are summed at once, and the distance of rows in shared memory: a multiple of 4, so
/// that packs are aligned, and not of 32, so that rows begin in different banks.
constexpr int kTileDepth = 32, kTileStride = kBackwardTile + 4;
/// Floats of an operand in shared memory.
constexpr int kTileFloats = kBackwardTile * kTileStride;

constexpr int kOfThread = 4;
using Floats = Vector<float, kOfThread>;

HEED_DEVICE int first_row_of_thread() {
  return static_cast<int>(heed::gpu::thread_index()) / 16 * kOfThread;
}
HEED_DEVICE int first_column_of_thread() {
  return static_cast<int>(heed::gpu::thread_index()) % 16 * kOfThread;
}

struct TileProduct {
  float at[kOfThread][kOfThread];

  /// at += the sum over k below depth of a[k, row] b[k, column].
  HEED_DEVICE void add(const float* a, const float* b, int depth) {
    a += first_row_of_thread();
    b += first_column_of_thread();
    for (int k = 0; k < depth; ++k) {
      const Floats left = *reinterpret_cast<const Floats*>(a + k * kTileStride);
      const Floats right = *reinterpret_cast<const Floats*>(b + k * kTileStride);
      HEED_UNROLL
      for (int r = 0; r < kOfThread; ++r) {
        HEED_UNROLL
        for (int c = 0; c < kOfThread; ++c)
          at[r][c] = fmaf(left.elements[r], right.elements[c], at[r][c]);
      }
    }
  }

  /// Stores the rows of this thread, the second index first if `transposed`.
  template <bool transposed>
  HEED_DEVICE void store(float* to) const {
    const int row = first_row_of_thread(), column = first_column_of_thread();
    HEED_UNROLL
    for (int i = 0; i < kOfThread; ++i) {
      Floats floats;
      HEED_UNROLL
      for (int k = 0; k < kOfThread; ++k) floats.elements[k] = transposed ? at[k][i] : at[i][k];
      const int at_vector =
          transposed ? (column + i) * kTileStride + row : (row + i) * kTileStride + column;
      *reinterpret_cast<Floats*>(to + at_vector) = floats;
    }
  }
};

/// Up to 64 rows of one head of a tensor.
template <typename T>
struct HeadRows {
  T* first;
  int64_t stride;
  int count;

  /// to[c, r] = this[r, column + c] for c below `columns`, at most kTileDepth; 0 beyond the rows.
  HEED_DEVICE void load_transposed(int column, int columns, float* to) const {
    const int c = static_cast<int>(heed::gpu::thread_index()) % kTileDepth;
    if (c >= columns) return;
    for (int r = static_cast<int>(heed::gpu::thread_index()) / kTileDepth; r < kBackwardTile;
         r += static_cast<int>(kBackwardThreads) / kTileDepth)
      to[c * kTileStride + r] = r < count ? wide(first[r * stride + column + c]) : 0.0f;
  }

  /// to[r, c] = this[r, column + c]; 0 beyond the rows, and from column + c = width on.
  HEED_DEVICE void load(int column, int width, float* to) const {
    const int c = static_cast<int>(heed::gpu::thread_index()) % kBackwardColumns;
    for (int r = static_cast<int>(heed::gpu::thread_index()) / kBackwardColumns; r < kBackwardTile;
         r += static_cast<int>(kBackwardThreads) / kBackwardColumns)
      to[r * kTileStride + c] =
          r < count && column + c < width ? wide(first[r * stride + column + c]) : 0.0f;
  }

  /// this[r, column + c] = product[r, c] * factor, within the rows and the width.
  HEED_DEVICE void put(const TileProduct& product, float factor, int column, int width) const {
    column += first_column_of_thread();
    HEED_UNROLL
    for (int i = 0; i < kOfThread; ++i) {
      const int r = first_row_of_thread() + i;
      if (r >= count) break;
      HEED_UNROLL
      for (int c = 0; c < kOfThread; ++c)
        if (column + c < width)
          first[r * stride + column + c] = narrow<T>(product.at[i][c] * factor);
    }
  }
};

/// product = the dot products of rows of a with rows of b over `width` columns. `shared` has room
/// for two operands of half the depth.
template <typename T>
HEED_DEVICE void multiply_rows(const HeadRows<const T>& a, const HeadRows<const T>& b, int width,
                               float* shared, TileProduct& product) {
  product = {};
  float* const second = shared + kTileDepth * kTileStride;
  for (int column = 0; column < width; column += kTileDepth) {
    const int columns = width - column < kTileDepth ? width - column : kTileDepth;
    heed::gpu::synchronize();
    a.load_transposed(column, columns, shared);
    b.load_transposed(column, columns, second);
    heed::gpu::synchronize();
    product.add(shared, second, columns);
  }
}

/// The queries of one head and the keys that they read.
template <typename T>
class BackwardHead {
 public:
  HEED_DEVICE BackwardHead(const AttentionBackwardArguments& in, const BackwardTile& tile, int head)
      : in_(in), tile_(tile), head_(head) {}

  HEED_DEVICE HeadRows<const T> rows_of_q(int first) const {
    return rows(static_cast<const T*>(in_.q), tile_.q_begin, tile_.queries, first, in_.n_heads,
                head_, in_.d);
  }
  HEED_DEVICE HeadRows<const T> rows_of_d_out(int first) const {
    return rows(static_cast<const T*>(in_.d_out), tile_.q_begin, tile_.queries, first, in_.n_heads,
                head_, in_.width_v);
  }
  HEED_DEVICE HeadRows<T> rows_of_dq(int first) const {
    return rows(static_cast<T*>(in_.dq), tile_.q_begin, tile_.queries, first, in_.n_heads, head_,
                in_.d);
  }
  /// Of k, v, dk or dv.
  template <typename U>
  HEED_DEVICE HeadRows<U> keys_of(U* tensor, int first, int width) const {
    return rows(tensor, tile_.kv_begin, tile_.keys, first, in_.n_heads / in_.heads_per_group,
                head_ / in_.heads_per_group, width);
  }

  /// The position of a query among the keys: the last query has that of the last key.
  HEED_DEVICE int position(int query) const { return tile_.keys - tile_.queries + query; }

  /// Whether any of 64 queries sees any of 64 keys.
  HEED_DEVICE bool any_visible(int query, int key) const {
    const int last_query =
        (query + kBackwardTile < tile_.queries ? query + kBackwardTile : tile_.queries) - 1;
    const int last_key = (key + kBackwardTile < tile_.keys ? key + kBackwardTile : tile_.keys) - 1;
    const int most_behind = position(last_query) - key, least = position(query) - last_key;
    if (in_.causal && most_behind < 0) return false;
    return in_.window == 0 || (most_behind > -in_.window && least < in_.window);
  }

  /// What the softmax's backward pass has of the elements of this thread: the weights after
  /// dropout, the gradients of the scores after the cap and the bias, and of the scores before
  /// them.
  struct Scores {
    TileProduct weights, d_final, d_scores;
  };

  /// Of the 64 queries from `query` on, and the 64 keys from `key` on; zeros where masked. `shared`
  /// has room for an operand.
  HEED_DEVICE void differentiate(int query, int key, float* shared, Scores& scores) const {
    const auto k = keys_of(static_cast<const T*>(in_.k), key, in_.d);
    const auto v = keys_of(static_cast<const T*>(in_.v), key, in_.width_v);
    multiply_rows(rows_of_q(query), k, in_.d, shared, scores.weights);
    multiply_rows(rows_of_d_out(query), v, in_.width_v, shared, scores.d_final);
    HEED_UNROLL
    for (int r = 0; r < kOfThread; ++r) {
      const int i = query + first_row_of_thread() + r;
      const int64_t row = static_cast<int64_t>(tile_.q_begin + i) * in_.n_heads + head_;
      const bool exists = i < tile_.queries;
      const float logsumexp = exists ? in_.logsumexp[row] : 0.0f;
      const float mean = exists ? in_.means[row] : 0.0f;
      const uint64_t dropout_key = mixed(in_.dropout_key ^ static_cast<uint64_t>(row));
      HEED_UNROLL
      for (int c = 0; c < kOfThread; ++c) {
        const int j = key + first_column_of_thread() + c;
        float &weight = scores.weights.at[r][c], &d_final = scores.d_final.at[r][c];
        float derivative = 1.0f;
        const float score = score_of(weight * in_.scale, i, j, derivative);
        const bool seen = exists && j < tile_.keys && is_visible(i, j) && logsumexp != -INFINITY;
        const float kept = kept_factor(dropout_key, j), p = seen ? expf(score - logsumexp) : 0.0f;
        weight = p * kept;
        d_final = seen ? p * (d_final * kept - mean) : 0.0f;
        scores.d_scores.at[r][c] = d_final * derivative;
      }
    }
  }

  /// parts[clamp(j - p, ...)] += the sums of d_final [i, j], in shared memory, over the diagonals.
  /// `sums` has room for one each.
  HEED_DEVICE void add_bias_gradient(int query, int key, const float* d_final, float* sums,
                                     float* parts) const {
    constexpr int kDiagonals = 2 * kBackwardTile - 1;
    const int thread = static_cast<int>(heed::gpu::thread_index());
    const int last = in_.reach - 1, first = key - position(query) - (kBackwardTile - 1);
    if (thread < kDiagonals) {
      const int ahead = thread - (kBackwardTile - 1);
      float sum = 0.0f;
      for (int i = 0; i < kBackwardTile; ++i)
        if (i + ahead >= 0 && i + ahead < kBackwardTile)
          sum += d_final[i * kTileStride + i + ahead];
      sums[thread] = sum;
    }
    heed::gpu::synchronize();
    const int ahead = first + thread;
    if (thread < kDiagonals && ahead > -last && ahead < last) parts[ahead + last] += sums[thread];
    if (thread != kDiagonals || (first > -last && first + kDiagonals - 1 < last)) return;
    float low = 0.0f, high = 0.0f;
    for (int i = 0; i < kDiagonals; ++i) {
      if (first + i <= -last)
        low += sums[i];
      else if (first + i >= last)
        high += sums[i];
    }
    parts[0] += low;
    parts[2 * last] += high;
  }

 private:
  template <typename U>
  HEED_DEVICE HeadRows<U> rows(U* tensor, int begin, int count, int first, int heads, int head,
                               int width) const {
    const int64_t stride = static_cast<int64_t>(heads) * width;
    return {tensor + (begin + first) * stride + static_cast<int64_t>(head) * width, stride,
            count - first < kBackwardTile ? count - first : kBackwardTile};
  }

  HEED_DEVICE bool is_visible(int i, int j) const {
    const int behind = position(i) - j;
    if (in_.causal && behind < 0) return false;
    return in_.window == 0 || (behind < in_.window && behind > -in_.window);
  }

  /// The score of a scaled product, and its derivative.
  HEED_DEVICE float score_of(float scaled, int i, int j, float& derivative) const {
    float score = scaled;
    if (in_.soft_cap > 0.0f) {
      const float t = tanhf(scaled / in_.soft_cap);
      score = in_.soft_cap * t;
      derivative = fmaf(-t, t, 1.0f);
    }
    if (!in_.relative_bias) return score;
    const int last = in_.reach - 1, ahead = j - position(i);
    const int clamped = ahead < -last ? -last : ahead > last ? last : ahead;
    return score + in_.relative_bias[static_cast<int64_t>(head_) * (2 * last + 1) + clamped + last];
  }

  HEED_DEVICE float kept_factor(uint64_t key, int j) const {
    if (in_.drop_threshold == 0) return 1.0f;
    return counter_hash(key, static_cast<uint64_t>(j)) < in_.drop_threshold ? 0.0f : in_.kept;
  }

  /// mix64() of base/random.h.
  static HEED_DEVICE uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }

  const AttentionBackwardArguments& in_;
  BackwardTile tile_;
  int head_;
};

}  // namespace heed::kernels::gpu
