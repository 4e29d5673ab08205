#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "heed/kernels/attention.h"
#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {

using Offsets = std::vector<int32_t>;

struct AttentionCase {
  std::string name = {};
  Offsets q_lengths = {}, kv_lengths = {};
  int64_t n_heads = 1, n_kv_heads = 1, d = 64, dv = 64;
  bool causal = false;
  float dropout = 0.0f;
  bool gathered = false;  // through kv_rows
  DType dtype = DType::f32;
  int64_t window = 0;
  float soft_cap = 0.0f;
  int64_t reach = 0;  // of a relative bias; 0: none
  bool sinks = false;
  bool pairs = false;  // a bias of each pair
};

inline std::ostream& operator<<(std::ostream& stream, const AttentionCase& c) {
  return stream << c.name;
}

inline Offsets offsets_of(const Offsets& lengths) {
  Offsets offsets{0};
  for (const int32_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

/// The operands, results and gradients of a case.
struct AttentionProblem {
  explicit AttentionProblem(const AttentionCase& c, float spread = 1.0f) {
    const Offsets q_offsets = offsets_of(c.q_lengths), kv_offsets = offsets_of(c.kv_lengths);
    spans = AttentionMetadata::cross(q_offsets, kv_offsets);
    const int64_t keys = kv_offsets.back();
    if (c.gathered)  // a permutation: 7 is coprime to every length below
      for (int64_t j = 0; j < keys; ++j)
        spans.kv_rows.push_back(static_cast<int32_t>((7 * j + 3) % keys));
    options = {.n_heads = c.n_heads,
               .n_kv_heads = c.n_kv_heads,
               .scale = 1.0f / std::sqrt(static_cast<float>(c.d)),
               .causal = c.causal,
               .window = c.window,
               .soft_cap = c.soft_cap,
               .dropout = c.dropout,
               .dropout_key = 0x0123456789abcdefu};
    q = normals({q_offsets.back(), c.n_heads * c.d}, 1, c.dtype, spread);
    k = normals({keys, c.n_kv_heads * c.d}, 2, c.dtype, spread);
    v = normals({keys, c.n_kv_heads * c.dv}, 3, c.dtype);
    d_out = normals({q_offsets.back(), c.n_heads * c.dv}, 4, c.dtype);
    out = Tensor::empty(d_out.shape(), c.dtype);
    logsumexp = Tensor::empty({q_offsets.back(), c.n_heads});
    dq = Tensor::empty(q.shape(), c.dtype);
    dk = Tensor::empty(k.shape(), c.dtype);
    dv = Tensor::empty(v.shape(), c.dtype);
    if (c.sinks) {
      sinks = normals({c.n_heads}, 6);
      d_sinks = Tensor::zeros(sinks.shape());
    }
    if (c.pairs) {
      int64_t pairs = 0;
      for (size_t b = 0; b < c.q_lengths.size(); ++b)
        pairs += int64_t{c.q_lengths[b]} * c.kv_lengths[b];
      pair_bias = normals({c.n_heads, pairs}, 7);
      d_pair_bias = Tensor::empty(pair_bias.shape());
    }
    if (c.reach == 0) return;
    bias = normals({c.n_heads, 2 * c.reach - 1}, 5);
    d_bias = Tensor::empty(bias.shape());
  }

  /// Of sequence b.
  int64_t queries(int64_t b) const {
    return spans.q_offsets[static_cast<size_t>(b) + 1] - spans.q_offsets[static_cast<size_t>(b)];
  }
  AttentionForward in() const { return {q, k, v, spans, options, bias, sinks, pair_bias}; }
  AttentionGradients gradients() { return {dq, dk, dv, d_bias, d_sinks, d_pair_bias}; }

  AttentionMetadata spans;
  AttentionOptions options;
  Tensor q, k, v, d_out, out, logsumexp, dq, dk, dv;
  Tensor bias, d_bias, sinks, d_sinks, pair_bias, d_pair_bias;
};

/// The largest difference, relative to the largest expected magnitude (at least 1).
inline double difference(const Tensor& actual, const Tensor& expected) {
  const auto a = numbers(actual), e = numbers(expected);
  double largest = 1.0, worst = 0.0;
  for (size_t i = 0; i < e.size(); ++i) {
    if (a[i] == e[i]) continue;  // minus infinity too
    if (!std::isfinite(a[i]) || !std::isfinite(e[i])) return HUGE_VAL;
    largest = std::max(largest, std::abs(e[i]));
    worst = std::max(worst, std::abs(a[i] - e[i]));
  }
  return worst / largest;
}

}  // namespace heed::kernels
