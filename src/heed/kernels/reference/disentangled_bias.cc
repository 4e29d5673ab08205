#include "heed/kernels/disentangled_bias.h"

#include "heed/kernels/quantize.h"

namespace heed::kernels::reference {
namespace {

Tensor widened(const Tensor& x) {
  if (!x.defined()) return {};
  Tensor wide = Tensor::empty(x.shape());
  dequantize(x, wide);
  return wide;
}

/// Calls visit(h, i, j, row, pair) for every head and pair: rows i and j of q and k, a row of the
/// tables, and the index of the bias.
template <typename Visit>
void visit_pairs(const DisentangledBias& in, const Visit& visit) {
  const int64_t reach = (std::ssize(in.rows) + 1) / 2;
  for (int64_t h = 0; h < in.n_heads; ++h) {
    int64_t pair = h * in.pairs();
    for (size_t b = 0; b + 1 < in.offsets.size(); ++b)
      for (int64_t i = in.offsets[b]; i < in.offsets[b + 1]; ++i)
        for (int64_t j = in.offsets[b]; j < in.offsets[b + 1]; ++j)
          visit(h, i, j, int64_t{in.rows[static_cast<size_t>(i - j + reach - 1)]}, pair++);
  }
}

}  // namespace

void disentangled_bias_forward(const DisentangledBias& in, Tensor& bias) {
  const Tensor q = widened(in.q), k = widened(in.k);
  const Tensor keys = widened(in.position_keys), queries = widened(in.position_queries);
  const int64_t width = in.q.cols(), d = width / in.n_heads;
  visit_pairs(in, [&](int64_t h, int64_t i, int64_t j, int64_t row, int64_t pair) {
    double sum = 0.0;
    for (int64_t c = h * d; c < (h + 1) * d; ++c) {
      if (keys.defined())
        sum += double{q.data<float>()[i * width + c]} * double{keys.data<float>()[row * width + c]};
      if (queries.defined())
        sum +=
            double{k.data<float>()[j * width + c]} * double{queries.data<float>()[row * width + c]};
    }
    bias.data<float>()[pair] = static_cast<float>(sum * double{in.scale});
  });
}

void disentangled_bias_backward(const DisentangledBias& in, const Tensor& d_bias,
                                DisentangledGradients gradients) {
  const Tensor q = widened(in.q), k = widened(in.k);
  const Tensor keys = widened(in.position_keys), queries = widened(in.position_queries);
  const int64_t width = in.q.cols(), d = width / in.n_heads;
  const auto zeros = [](const Tensor& like) {
    return std::vector<double>(static_cast<size_t>(like.defined() ? like.elements() : 0));
  };
  std::vector<double> dq = zeros(q), dk = zeros(k), d_keys = zeros(keys),
                      d_queries = zeros(queries);
  visit_pairs(in, [&](int64_t h, int64_t i, int64_t j, int64_t row, int64_t pair) {
    const double dy = double{d_bias.data<float>()[pair]} * double{in.scale};
    for (int64_t c = h * d; c < (h + 1) * d; ++c) {
      const auto at_i = static_cast<size_t>(i * width + c),
                 at_j = static_cast<size_t>(j * width + c),
                 at_row = static_cast<size_t>(row * width + c);
      if (keys.defined()) {
        dq[at_i] += dy * double{keys.data<float>()[at_row]};
        d_keys[at_row] += dy * double{q.data<float>()[at_i]};
      }
      if (queries.defined()) {
        dk[at_j] += dy * double{queries.data<float>()[at_row]};
        d_queries[at_row] += dy * double{k.data<float>()[at_j]};
      }
    }
  });
  const auto round_to = [](const std::vector<double>& from, Tensor& to) {
    if (!to.defined()) return;
    visit_floating(to.dtype(), [&](auto zero) {
      using T = decltype(zero);
      for (size_t c = 0; c < from.size(); ++c) to.data<T>()[c] = T(static_cast<float>(from[c]));
    });
  };
  round_to(dq, gradients.dq);
  round_to(dk, gradients.dk);
  round_to(d_keys, gradients.d_position_keys);
  round_to(d_queries, gradients.d_position_queries);
}

}  // namespace heed::kernels::reference
