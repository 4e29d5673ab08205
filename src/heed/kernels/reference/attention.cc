#include "heed/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "heed/kernels/counter_hash.h"
#include "heed/kernels/quantize.h"

namespace heed::kernels::reference {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// A row-major matrix of doubles, even for the T x T weights that the fast kernels never store.
struct Matrix {
  Matrix(int64_t row_count, int64_t col_count)
      : cols(col_count), values(static_cast<size_t>(row_count * col_count)) {}

  explicit Matrix(const Tensor& x) : Matrix(x.rows(), x.cols()) {
    Tensor wide = Tensor::empty(x.shape());
    dequantize(x, wide);
    const auto from = wide.values<float>();
    std::copy(from.begin(), from.end(), values.begin());
  }

  void round_to(Tensor& x) const {
    visit_floating(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* to = x.data<T>();
      for (const double value : values) *to++ = T(static_cast<float>(value));
    });
  }

  double& operator()(int64_t i, int64_t j) { return values[static_cast<size_t>(i * cols + j)]; }
  double operator()(int64_t i, int64_t j) const {
    return values[static_cast<size_t>(i * cols + j)];
  }

  int64_t cols;
  std::vector<double> values;
};

/// The operands in double.
struct Operands {
  explicit Operands(const AttentionForward& forward)
      : in(forward), q(forward.q), k(forward.k), v(forward.v) {}
  const AttentionForward& in;
  Matrix q, k, v;
};

/// One sequence and one query head: its rows and columns.
struct Head {
  Head(const Operands& all, int64_t sequence, int64_t head)
      : operands(all),
        in(all.in),
        h(head),
        q_begin(in.spans.q_offsets[static_cast<size_t>(sequence)]),
        kv_begin(in.spans.kv_begin[static_cast<size_t>(sequence)]),
        queries(in.spans.q_offsets[static_cast<size_t>(sequence) + 1] - q_begin),
        keys(in.spans.kv_end[static_cast<size_t>(sequence)] - kv_begin),
        d(in.q.cols() / in.options.n_heads),
        dv(in.v.cols() / in.options.n_kv_heads),
        first_pair(pairs_before(all.in, sequence) + head * all.in.pair_bias.cols()),
        q_col(h * d),
        k_col(group() * d),
        v_col(group() * dv),
        out_col(h * dv) {}

  /// Where the pairs of a sequence begin in those of all.
  static int64_t pairs_before(const AttentionForward& forward, int64_t sequence) {
    int64_t pairs = 0;
    for (size_t b = 0; b < static_cast<size_t>(sequence); ++b)
      pairs += int64_t{forward.spans.q_offsets[b + 1] - forward.spans.q_offsets[b]} *
               (forward.spans.kv_end[b] - forward.spans.kv_begin[b]);
    return pairs;
  }
  int64_t group() const { return h / (in.options.n_heads / in.options.n_kv_heads); }
  int64_t row(int64_t key) const {
    const auto& rows = in.spans.kv_rows;
    return rows.empty() ? kv_begin + key : rows[static_cast<size_t>(kv_begin + key)];
  }
  double q(int64_t i, int64_t c) const { return operands.q(q_begin + i, q_col + c); }
  double k(int64_t j, int64_t c) const { return operands.k(row(j), k_col + c); }
  double v(int64_t j, int64_t c) const { return operands.v(row(j), v_col + c); }
  bool visible(int64_t i, int64_t j) const {
    const int64_t behind = keys - queries + i - j;
    if (in.options.causal && behind < 0) return false;
    return in.options.window == 0 || std::abs(behind) < in.options.window;
  }
  double scaled_score(int64_t i, int64_t j) const {
    double sum = 0.0;
    for (int64_t c = 0; c < d; ++c) sum += q(i, c) * k(j, c);
    return sum * static_cast<double>(in.options.scale);
  }
  double score(int64_t i, int64_t j) const {
    double score = scaled_score(i, j);
    if (in.options.soft_cap > 0.0f) {
      const double cap = static_cast<double>(in.options.soft_cap);
      score = cap * std::tanh(score / cap);
    }
    if (in.relative_bias.defined())
      score += static_cast<double>(in.relative_bias.data<float>()[bias_index(i, j)]);
    if (in.pair_bias.defined())
      score += static_cast<double>(in.pair_bias.data<float>()[first_pair + i * keys + j]);
    return score;
  }
  /// The derivative of score(i, j) with respect to scaled_score(i, j).
  double derivative(int64_t i, int64_t j) const {
    if (in.options.soft_cap <= 0.0f) return 1.0;
    const double t = std::tanh(scaled_score(i, j) / static_cast<double>(in.options.soft_cap));
    return 1.0 - t * t;
  }
  double sink() const {
    return in.sinks.defined() ? static_cast<double>(in.sinks.data<float>()[h]) : kMinusInfinity;
  }
  int64_t bias_index(int64_t i, int64_t j) const {
    const int64_t width = in.relative_bias.cols(), last = (width - 1) / 2;
    return h * width + std::clamp(j - (keys - queries + i), -last, last) + last;
  }

  const Operands& operands;
  const AttentionForward& in;
  int64_t h, q_begin, kv_begin, queries, keys, d, dv, first_pair, q_col, k_col, v_col, out_col;
};

/// Row i of `weights` = softmax of the visible scores and the sink; returns the logarithm of its
/// denominator.
double softmax_row(const Head& head, int64_t i, Matrix& weights) {
  double largest = head.sink();
  for (int64_t j = 0; j < head.keys; ++j) {
    weights(i, j) = head.visible(i, j) ? head.score(i, j) : kMinusInfinity;
    largest = std::max(largest, weights(i, j));
  }
  double sum = largest == kMinusInfinity ? 0.0 : std::exp(head.sink() - largest);
  for (int64_t j = 0; j < head.keys; ++j) {
    weights(i, j) = largest == kMinusInfinity ? 0.0 : std::exp(weights(i, j) - largest);
    sum += weights(i, j);
  }
  for (int64_t j = 0; j < head.keys; ++j) weights(i, j) /= sum > 0.0 ? sum : 1.0;
  return largest + std::log(sum);
}

Matrix softmax(const Head& head) {
  Matrix weights(head.queries, head.keys);
  for (int64_t i = 0; i < head.queries; ++i) softmax_row(head, i, weights);
  return weights;
}

/// The factor of dropout for weight (i, j): 0 or 1 / (1 - p).
double dropout_factor(const Head& head, int64_t i, int64_t j) {
  const AttentionOptions& options = head.in.options;
  if (options.dropout <= 0.0f) return 1.0;
  const uint64_t key =
      attention_dropout_key(options.dropout_key, (head.q_begin + i) * options.n_heads + head.h);
  const bool drop = counter_hash(key, static_cast<uint64_t>(j)) < drop_threshold(options.dropout);
  return drop ? 0.0 : 1.0 / (1.0 - static_cast<double>(options.dropout));
}

void forward_head(const Head& head, Matrix& out, Matrix& logsumexp) {
  Matrix weights(head.queries, head.keys);
  for (int64_t i = 0; i < head.queries; ++i) {
    const int64_t n = head.q_begin + i;
    logsumexp(n, head.h) = softmax_row(head, i, weights);
    for (int64_t j = 0; j < head.keys; ++j) {
      const double weight = weights(i, j) * dropout_factor(head, i, j);
      for (int64_t c = 0; c < head.dv; ++c) out(n, head.out_col + c) += weight * head.v(j, c);
    }
  }
}

/// Gradients in double; the heads of a group are summed before rounding to the dtype.
struct Gradients {
  explicit Gradients(const AttentionForward& in)
      : dq(in.q.rows(), in.q.cols()), dk(in.k.rows(), in.k.cols()), dv(in.v.rows(), in.v.cols()) {
    if (in.relative_bias.defined())
      d_bias.resize(static_cast<size_t>(in.relative_bias.elements()), 0.0);
    if (in.pair_bias.defined()) d_pairs.resize(static_cast<size_t>(in.pair_bias.elements()), 0.0);
    if (in.sinks.defined()) d_sinks.resize(static_cast<size_t>(in.sinks.elements()), 0.0);
  }
  Matrix dq, dk, dv;
  std::vector<double> d_bias, d_pairs, d_sinks;
};

void backward_head(const Head& head, const Matrix& d_out, Gradients& gradients) {
  const double scale = static_cast<double>(head.in.options.scale);
  Matrix weights = softmax(head);
  for (int64_t i = 0; i < head.queries; ++i) {
    const int64_t n = head.q_begin + i;
    std::vector<double> d_weights(static_cast<size_t>(head.keys), 0.0);
    double mean = 0.0, sink_weight = 1.0;
    for (int64_t j = 0; j < head.keys; ++j) {
      double& d_weight = d_weights[static_cast<size_t>(j)];
      const double mask = dropout_factor(head, i, j);
      for (int64_t c = 0; c < head.dv; ++c) {
        const double dy = d_out(n, head.out_col + c) * mask;
        d_weight += dy * head.v(j, c);
        gradients.dv(head.row(j), head.v_col + c) += weights(i, j) * dy;
      }
      mean += weights(i, j) * d_weight;
      sink_weight -= weights(i, j);
    }
    if (!gradients.d_sinks.empty())
      gradients.d_sinks[static_cast<size_t>(head.h)] -= sink_weight * mean;
    for (int64_t j = 0; j < head.keys; ++j) {
      const double d_final = weights(i, j) * (d_weights[static_cast<size_t>(j)] - mean);
      if (!gradients.d_bias.empty())
        gradients.d_bias[static_cast<size_t>(head.bias_index(i, j))] += d_final;
      if (!gradients.d_pairs.empty())
        gradients.d_pairs[static_cast<size_t>(head.first_pair + i * head.keys + j)] = d_final;
      const double d_score = d_final * head.derivative(i, j) * scale;
      for (int64_t c = 0; c < head.d; ++c) {
        gradients.dq(n, head.q_col + c) += d_score * head.k(j, c);
        gradients.dk(head.row(j), head.k_col + c) += d_score * head.q(i, c);
      }
    }
  }
}

}  // namespace

void attention_forward(const AttentionForward& in, Tensor& out, Tensor& logsumexp) {
  const Operands operands(in);
  Matrix outputs(out.rows(), out.cols()), logsumexps(logsumexp.rows(), logsumexp.cols());
  for (int64_t b = 0; b < in.spans.sequences(); ++b)
    for (int64_t h = 0; h < in.options.n_heads; ++h)
      forward_head(Head(operands, b, h), outputs, logsumexps);
  outputs.round_to(out);
  logsumexps.round_to(logsumexp);
}

void attention_backward(const AttentionForward& in, const Tensor&, const Tensor&,
                        const Tensor& d_out, AttentionGradients gradients) {
  const Operands operands(in);
  const Matrix d_outputs(d_out);
  Gradients sums(in);
  for (int64_t b = 0; b < in.spans.sequences(); ++b)
    for (int64_t h = 0; h < in.options.n_heads; ++h)
      backward_head(Head(operands, b, h), d_outputs, sums);
  sums.dq.round_to(gradients.dq);
  sums.dk.round_to(gradients.dk);
  sums.dv.round_to(gradients.dv);
  if (gradients.d_relative_bias.defined())
    for (size_t i = 0; i < sums.d_bias.size(); ++i)
      gradients.d_relative_bias.data<float>()[i] = static_cast<float>(sums.d_bias[i]);
  if (gradients.d_pair_bias.defined())
    for (size_t i = 0; i < sums.d_pairs.size(); ++i)
      gradients.d_pair_bias.data<float>()[i] = static_cast<float>(sums.d_pairs[i]);
  if (gradients.d_sinks.defined())
    for (size_t h = 0; h < sums.d_sinks.size(); ++h)
      gradients.d_sinks.data<float>()[h] += static_cast<float>(sums.d_sinks[h]);
}

Tensor attention_weights(const AttentionForward& in, const QueryRange& range) {
  const Operands operands(in);
  const int64_t keys = Head(operands, range.sequence, 0).keys;
  Tensor weights = Tensor::empty({in.options.n_heads, range.size(), keys});
  float* to = weights.data<float>();
  for (int64_t h = 0; h < in.options.n_heads; ++h) {
    const Matrix all = softmax(Head(operands, range.sequence, h));
    for (int64_t i = range.begin; i < range.end; ++i)
      for (int64_t j = 0; j < keys; ++j) *to++ = static_cast<float>(all(i, j));
  }
  return weights;
}

}  // namespace heed::kernels::reference
