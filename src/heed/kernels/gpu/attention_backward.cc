#include "heed/kernels/gpu/code/attention/attention_backward.h"

#include <algorithm>
#include <array>
#include <vector>

#include "heed/base/rounding.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/counter_hash.h"
#include "heed/kernels/gpu/launch_elements.h"

namespace heed::kernels::gpu {
namespace {

/// So that positions cannot overflow.
constexpr int64_t kMaxBackwardWindow = int64_t{1} << 29;
/// A tile of f32 in shared memory, its rows padded.
constexpr size_t kOperandBytes = size_t{kBackwardTile} * (kBackwardTile + 4) * sizeof(float);

/// Of f32 with one range of columns, f32 with two, bf16 with one, bf16 with two.
using BackwardKernels = std::array<const char*, 4>;
constexpr BackwardKernels kQueryGradients{
    "attention_backward_queries_1_f32", "attention_backward_queries_2_f32",
    "attention_backward_queries_1_bf16", "attention_backward_queries_2_bf16"};
constexpr BackwardKernels kKeyGradients{
    "attention_backward_keys_1_f32", "attention_backward_keys_2_f32",
    "attention_backward_keys_1_bf16", "attention_backward_keys_2_bf16"};

std::vector<BackwardTile> backward_tiles(const AttentionMetadata& spans, bool of_keys) {
  std::vector<BackwardTile> tiles;
  for (size_t b = 0; b < spans.kv_begin.size(); ++b) {
    const int q_begin = spans.q_offsets[b], queries = spans.q_offsets[b + 1] - q_begin;
    const int kv_begin = spans.kv_begin[b], keys = spans.kv_end[b] - kv_begin;
    for (int first = 0; first < (of_keys ? keys : queries); first += kBackwardTile)
      tiles.push_back({q_begin, queries, kv_begin, keys, first});
  }
  return tiles;
}

AttentionBackwardArguments backward_arguments(const AttentionForward& in, const Tensor& logsumexp,
                                              const Tensor& d_out, const Tensor& means,
                                              AttentionGradients& gradients) {
  const AttentionOptions& options = in.options;
  const Tensor& bias = in.relative_bias;
  return {.q = memory(in.q),
          .k = memory(in.k),
          .v = memory(in.v),
          .d_out = memory(d_out),
          .logsumexp = elements<float>(logsumexp),
          .means = elements<float>(means),
          .dq = memory(gradients.dq),
          .dk = memory(gradients.dk),
          .dv = memory(gradients.dv),
          .tiles = nullptr,
          .n_heads = static_cast<int>(options.n_heads),
          .heads_per_group = static_cast<int>(options.n_heads / options.n_kv_heads),
          .d = static_cast<int>(in.q.cols() / options.n_heads),
          .width_v = static_cast<int>(in.v.cols() / options.n_kv_heads),
          .scale = options.scale,
          .soft_cap = options.soft_cap,
          .window = static_cast<int>(std::min(options.window, kMaxBackwardWindow)),
          .causal = options.causal,
          .relative_bias = elements<float>(bias),
          .bias_parts = nullptr,
          .reach = bias.defined() ? static_cast<int>((bias.cols() + 1) / 2) : 0,
          .kept = 1.0f / (1.0f - options.dropout),
          .drop_threshold = options.dropout > 0.0f ? drop_threshold(options.dropout) : 0,
          .dropout_key = mix64(options.dropout_key)};
}

/// Starts a block for each tile, head and range of the `width` columns of a head.
void launch_tiles(const BackwardKernels& kernels, AttentionBackwardArguments in, DType dtype,
                  const std::vector<BackwardTile>& tiles, int heads, int width,
                  size_t shared_bytes) {
  if (tiles.empty()) return;
  const Uploaded<BackwardTile> uploaded(tiles);
  in.tiles = uploaded.data();
  const int ranges = width > kBackwardColumns ? 2 : 1;
  launch(kernels[static_cast<size_t>((dtype == DType::f32 ? 0 : 2) + ranges - 1)],
         {.x = static_cast<unsigned>(tiles.size()),
          .y = static_cast<unsigned>(heads),
          .z = blocks_for(width, ranges * kBackwardColumns),
          .threads = kBackwardThreads,
          .shared_bytes = shared_bytes},
         in);
}

/// The dot products of the rows of out and d_out, [Nq, H].
Tensor multiply_outputs(const Tensor& out, const Tensor& d_out, int64_t n_heads) {
  constexpr unsigned kWarps = 8;
  Tensor means = Tensor::empty({out.rows(), n_heads});
  if (means.elements() == 0) return means;
  launch(by_dtype(out.dtype(), "attention_backward_means_f32", "attention_backward_means_bf16"),
         {.x = blocks_for(means.elements(), kWarps), .threads = 32 * kWarps},
         BackwardMeansArguments{memory(out), memory(d_out), elements<float>(means),
                                means.elements(), static_cast<int>(out.cols() / n_heads)});
  return means;
}

void add_sink_gradient(const Tensor& sinks, const Tensor& logsumexp, const Tensor& means,
                       Tensor& d_sinks) {
  constexpr unsigned kThreads = 256;
  launch("attention_backward_sinks",
         {.x = static_cast<unsigned>(sinks.elements()),
          .threads = kThreads,
          .shared_bytes = kThreads / 32 * sizeof(float)},
         SinkGradientArguments{elements<float>(sinks), elements<float>(logsumexp),
                               elements<float>(means), elements<float>(d_sinks), means.rows(),
                               static_cast<int>(sinks.elements())});
}

void sum_bias_gradient(const Tensor& parts, Tensor& d_bias) {
  constexpr unsigned kThreads = 128;
  launch("attention_backward_bias",
         {.x = blocks_for(d_bias.elements(), kThreads), .threads = kThreads},
         BiasGradientArguments{elements<float>(parts), elements<float>(d_bias), parts.shape()[0],
                               static_cast<int>(d_bias.elements())});
}

/// Rows of k and v that no sequence reads have no gradient.
void clear_unread_rows(const AttentionForward& in, AttentionGradients& gradients) {
  int64_t keys = 0;
  for (size_t b = 0; b < in.spans.kv_begin.size(); ++b)
    keys += in.spans.kv_end[b] - in.spans.kv_begin[b];
  if (keys == in.k.rows()) return;
  gradients.dk.fill_zero();
  gradients.dv.fill_zero();
}

}  // namespace

void attention_backward(const AttentionForward& in, const Tensor& out, const Tensor& logsumexp,
                        const Tensor& d_out, AttentionGradients gradients) {
  require(in.spans.kv_rows.empty(), "attention_backward: the keys are gathered through {} kv_rows",
          in.spans.kv_rows.size());
  clear_unread_rows(in, gradients);
  const DType dtype = in.q.dtype();
  const Tensor means = multiply_outputs(out, d_out, in.options.n_heads);
  AttentionBackwardArguments to = backward_arguments(in, logsumexp, d_out, means, gradients);
  launch_tiles(kQueryGradients, to, dtype, backward_tiles(in.spans, false), to.n_heads, to.d,
               2 * kOperandBytes);
  const std::vector<BackwardTile> key_tiles = backward_tiles(in.spans, true);
  Tensor bias_parts;
  if (gradients.d_relative_bias.defined()) {
    bias_parts = Tensor::empty(
        {static_cast<int64_t>(key_tiles.size()), to.n_heads, gradients.d_relative_bias.cols()});
    to.bias_parts = elements<float>(bias_parts);
  }
  launch_tiles(kKeyGradients, to, dtype, key_tiles, to.n_heads / to.heads_per_group,
               std::max(to.d, to.width_v), 3 * kOperandBytes + 2 * kBackwardTile * sizeof(float));
  if (bias_parts.defined()) sum_bias_gradient(bias_parts, gradients.d_relative_bias);
  if (gradients.d_sinks.defined()) add_sink_gradient(in.sinks, logsumexp, means, gradients.d_sinks);
}

}  // namespace heed::kernels::gpu
