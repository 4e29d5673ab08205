#include "heed/kernels/gpu/code/attention/attention_backward.h"

#include "heed/kernels/gpu/code/attention/attention_backward_tile.h"
#include "heed/kernels/gpu/code/block_sum.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

/// With P = the weights, m = the mask of dropout (0 or 1 / (1 - p)) and dS = P (m dO V^T -
/// rowsum(dO O)): dQ = scale dS K.
template <typename T, int ranges>
HEED_DEVICE void differentiate_queries(const AttentionBackwardArguments& in) {
  float* const operand = shared_memory<float>();
  float* const d_scores = operand + kTileFloats;
  const BackwardTile tile = in.tiles[block_x()];
  const BackwardHead<T> head(in, tile, static_cast<int>(block_y()));
  const int first_column = static_cast<int>(block_z()) * ranges * kBackwardColumns;
  TileProduct dq[ranges] = {};
  for (int key = 0; key < tile.keys; key += kBackwardTile) {
    if (!head.any_visible(tile.first, key)) continue;
    typename BackwardHead<T>::Scores scores;
    head.differentiate(tile.first, key, operand, scores);
    scores.d_scores.template store<true>(d_scores);
    const auto k = head.keys_of(static_cast<const T*>(in.k), key, in.d);
    HEED_UNROLL
    for (int i = 0; i < ranges; ++i) {
      synchronize();
      k.load(first_column + i * kBackwardColumns, in.d, operand);
      synchronize();
      dq[i].add(d_scores, operand, k.count);
    }
  }
  HEED_UNROLL
  for (int i = 0; i < ranges; ++i)
    head.rows_of_dq(tile.first).put(dq[i], in.scale, first_column + i * kBackwardColumns, in.d);
}

/// dV = (P m)^T dO, dK = scale dS^T Q, over the query heads of a group and their rows in order.
template <typename T, int ranges>
HEED_DEVICE void differentiate_keys(const AttentionBackwardArguments& in) {
  float* const operand = shared_memory<float>();
  float *const weights = operand + kTileFloats, *const d_scores = weights + kTileFloats;
  float* const diagonals = d_scores + kTileFloats;
  const BackwardTile tile = in.tiles[block_x()];
  const int first_head = static_cast<int>(block_y()) * in.heads_per_group;
  const int first_column = static_cast<int>(block_z()) * ranges * kBackwardColumns;
  const int bias_width = 2 * in.reach - 1;
  float* const bias_parts =
      in.bias_parts && block_z() == 0
          ? in.bias_parts + (static_cast<int64_t>(block_x()) * in.n_heads + first_head) * bias_width
          : nullptr;
  if (bias_parts)
    for (int i = static_cast<int>(thread_index()); i < in.heads_per_group * bias_width;
         i += static_cast<int>(kBackwardThreads))
      bias_parts[i] = 0.0f;

  TileProduct dk[ranges] = {}, dv[ranges] = {};
  for (int h = 0; h < in.heads_per_group; ++h) {
    const BackwardHead<T> head(in, tile, first_head + h);
    for (int query = 0; query < tile.queries; query += kBackwardTile) {
      if (!head.any_visible(query, tile.first)) continue;
      typename BackwardHead<T>::Scores scores;
      head.differentiate(query, tile.first, operand, scores);
      if (bias_parts) {
        scores.d_final.template store<false>(d_scores);
        synchronize();
        head.add_bias_gradient(query, tile.first, d_scores, diagonals, bias_parts + h * bias_width);
        synchronize();
      }
      scores.weights.template store<false>(weights);
      scores.d_scores.template store<false>(d_scores);
      const auto d_out = head.rows_of_d_out(query), q = head.rows_of_q(query);
      HEED_UNROLL
      for (int i = 0; i < ranges; ++i) {
        const int column = first_column + i * kBackwardColumns;
        synchronize();
        d_out.load(column, in.width_v, operand);
        synchronize();
        dv[i].add(weights, operand, d_out.count);
        synchronize();
        q.load(column, in.d, operand);
        synchronize();
        dk[i].add(d_scores, operand, q.count);
      }
    }
  }
  const BackwardHead<T> head(in, tile, first_head);
  HEED_UNROLL
  for (int i = 0; i < ranges; ++i) {
    const int column = first_column + i * kBackwardColumns;
    head.keys_of(static_cast<T*>(in.dk), tile.first, in.d).put(dk[i], in.scale, column, in.d);
    head.keys_of(static_cast<T*>(in.dv), tile.first, in.width_v)
        .put(dv[i], 1.0f, column, in.width_v);
  }
}

template <typename T>
HEED_DEVICE void multiply_out(const BackwardMeansArguments& in) {
  const int64_t row =
      static_cast<int64_t>(block_x()) * (block_threads() / 32) + thread_index() / 32;
  if (row >= in.rows) return;
  const T* const out = static_cast<const T*>(in.out) + row * in.columns;
  const T* const d_out = static_cast<const T*>(in.d_out) + row * in.columns;
  const int lane = static_cast<int>(thread_index() % 32);
  float sum = 0.0f;
  for (int c = lane; c < in.columns; c += 32) sum = fmaf(wide(out[c]), wide(d_out[c]), sum);
  sum = reduce_warp<Sum>(sum);
  if (lane == 0) in.means[row] = sum;
}

}  // namespace

HEED_GPU_KERNEL(attention_backward_queries_1_f32, AttentionBackwardArguments, in) {
  differentiate_queries<float, 1>(in);
}
HEED_GPU_KERNEL(attention_backward_queries_2_f32, AttentionBackwardArguments, in) {
  differentiate_queries<float, 2>(in);
}
HEED_GPU_KERNEL(attention_backward_queries_1_bf16, AttentionBackwardArguments, in) {
  differentiate_queries<Bf16, 1>(in);
}
HEED_GPU_KERNEL(attention_backward_queries_2_bf16, AttentionBackwardArguments, in) {
  differentiate_queries<Bf16, 2>(in);
}
HEED_GPU_KERNEL(attention_backward_keys_1_f32, AttentionBackwardArguments, in) {
  differentiate_keys<float, 1>(in);
}
HEED_GPU_KERNEL(attention_backward_keys_2_f32, AttentionBackwardArguments, in) {
  differentiate_keys<float, 2>(in);
}
HEED_GPU_KERNEL(attention_backward_keys_1_bf16, AttentionBackwardArguments, in) {
  differentiate_keys<Bf16, 1>(in);
}
HEED_GPU_KERNEL(attention_backward_keys_2_bf16, AttentionBackwardArguments, in) {
  differentiate_keys<Bf16, 2>(in);
}

HEED_GPU_KERNEL(attention_backward_means_f32, BackwardMeansArguments, in) {
  multiply_out<float>(in);
}
HEED_GPU_KERNEL(attention_backward_means_bf16, BackwardMeansArguments, in) {
  multiply_out<Bf16>(in);
}

HEED_GPU_KERNEL(attention_backward_sinks, SinkGradientArguments, in) {
  const int head = static_cast<int>(block_x());
  float sum = 0.0f;
  for (int64_t n = thread_index(); n < in.rows; n += block_threads()) {
    const int64_t row = n * in.n_heads + head;
    sum = fmaf(expf(in.sinks[head] - in.logsumexp[row]), in.means[row], sum);
  }
  sum = reduce_block<Sum>(sum, shared_memory<float>());
  if (thread_index() == 0) in.d_sinks[head] -= sum;
}

HEED_GPU_KERNEL(attention_backward_bias, BiasGradientArguments, in) {
  const int i = static_cast<int>(block_x() * block_threads() + thread_index());
  if (i >= in.elements) return;
  double sum = 0.0;
  for (int64_t part = 0; part < in.parts_count; ++part)
    sum += static_cast<double>(in.parts[part * in.elements + i]);
  in.d_bias[i] = static_cast<float>(sum);
}

}  // namespace heed::kernels::gpu
