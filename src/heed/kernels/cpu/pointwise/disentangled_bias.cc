#include "heed/kernels/disentangled_bias.h"

#include <algorithm>

#include "heed/base/parallel.h"
#include "heed/kernels/matmul.h"

namespace heed::kernels::cpu {
namespace {

/// The rows of the tables that a sequence of `tokens` uses, [begin, end): those of the distances
/// that occur in it.
struct TableRows {
  TableRows(const DisentangledBias& in, int64_t tokens)
      : first(in.rows.data() + (std::ssize(in.rows) + 1) / 2 - 1),
        begin(first[1 - tokens]),
        end(first[tokens - 1] + 1) {}

  int64_t size() const { return end - begin; }
  /// The row, counted from `begin`, of a query `distance` tokens after its key.
  int64_t of(int64_t distance) const { return first[distance] - begin; }

  const int32_t* first;  // that of distance 0
  int64_t begin, end;
};

/// One head of rows [begin, end) of x [N, H d] in f32: [end - begin, d].
Tensor head_of(const Tensor& x, int64_t begin, int64_t end, int64_t head, int64_t n_heads) {
  const int64_t d = x.cols() / n_heads;
  Tensor own = Tensor::empty({end - begin, d});
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    float* to = own.data<float>();
    for (int64_t row = begin; row < end; ++row) {
      const T* const from = x.data<T>() + row * x.cols() + head * d;
      to = std::transform(from, from + d, to, [](T value) { return static_cast<float>(value); });
    }
  });
  return own;
}

/// The same rows of x become `own`.
void set_head(const Tensor& own, int64_t begin, int64_t head, int64_t n_heads, Tensor& x) {
  const int64_t d = x.cols() / n_heads;
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t row = 0; row < own.rows(); ++row)
      std::transform(own.data<float>() + row * d, own.data<float>() + (row + 1) * d,
                     x.data<T>() + (begin + row) * x.cols() + head * d,
                     [](float value) { return T(value); });
  });
}

/// A sequence: tokens [begin, end), whose pairs begin at `first_pair` of a head's.
struct DisentangledSequence {
  int64_t begin, end, first_pair;

  int64_t tokens() const { return end - begin; }
};

std::vector<DisentangledSequence> sequences_of(const std::vector<int32_t>& offsets) {
  std::vector<DisentangledSequence> all;
  int64_t pair = 0;
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    all.push_back({offsets[b], offsets[b + 1], pair});
    pair += all.back().tokens() * all.back().tokens();
  }
  return all;
}

/// The products [T, W] of the tokens of a sequence with the rows of a table that it uses; absent
/// without the table.
Tensor table_products(const DisentangledBias& in, const Tensor& x, const Tensor& table,
                      const DisentangledSequence& at, int64_t head) {
  if (!table.defined()) return {};
  const TableRows used(in, at.tokens());
  const Tensor own = head_of(x, at.begin, at.end, head, in.n_heads);
  const Tensor rows = head_of(table, used.begin, used.end, head, in.n_heads);
  Tensor products = Tensor::empty({at.tokens(), used.size()});
  cpu::matmul({own}, {rows, true}, {}, products);
  return products;
}

void write_biases(const DisentangledBias& in, const DisentangledSequence& at, int64_t head,
                  float* to) {
  const TableRows used(in, at.tokens());
  const Tensor of_queries = table_products(in, in.q, in.position_keys, at, head);
  const Tensor of_keys = table_products(in, in.k, in.position_queries, at, head);
  const float* const queries = of_queries.defined() ? of_queries.data<float>() : nullptr;
  const float* const keys = of_keys.defined() ? of_keys.data<float>() : nullptr;
  const int64_t width = used.size();
  for (int64_t i = 0; i < at.tokens(); ++i)
    for (int64_t j = 0; j < at.tokens(); ++j) {
      const int64_t row = used.of(i - j);
      float sum = queries ? queries[i * width + row] : 0.0f;
      if (keys) sum += keys[j * width + row];
      *to++ = sum * in.scale;
    }
}

/// A table, what is multiplied with it, and whether a pair's row of that is its query's.
struct TablePair {
  const Tensor &x, &table;
  bool by_query;
};

/// dx of a sequence, and what it adds to d_table [rows of the table, d], for one head.
void differentiate(const DisentangledBias& in, const TablePair& pair,
                   const DisentangledSequence& at, const float* d_bias, int64_t head, Tensor& dx,
                   Tensor& d_table) {
  const TableRows used(in, at.tokens());
  Tensor d_products = Tensor::zeros({at.tokens(), used.size()});
  float* const sums = d_products.data<float>();
  for (int64_t i = 0; i < at.tokens(); ++i)
    for (int64_t j = 0; j < at.tokens(); ++j)
      sums[(pair.by_query ? i : j) * used.size() + used.of(i - j)] += *d_bias++ * in.scale;
  const Tensor rows = head_of(pair.table, used.begin, used.end, head, in.n_heads);
  Tensor own_gradient = Tensor::empty({at.tokens(), rows.cols()});
  cpu::matmul({d_products}, {rows}, {}, own_gradient);
  set_head(own_gradient, at.begin, head, in.n_heads, dx);
  const Tensor own = head_of(pair.x, at.begin, at.end, head, in.n_heads);
  Tensor part = d_table.row_slice(used.begin, used.end);
  cpu::matmul({d_products, true}, {own}, {.accumulate = true}, part);
}

/// The gradients of a table and of what is multiplied with it, for one head.
void differentiate_head(const DisentangledBias& in, const TablePair& pair, const float* d_bias,
                        int64_t head, Tensor& dx, Tensor& d_table) {
  if (!pair.table.defined()) return;
  Tensor sums = Tensor::zeros({pair.table.rows(), pair.table.cols() / in.n_heads});
  for (const DisentangledSequence& at : sequences_of(in.offsets))
    if (at.tokens() > 0) differentiate(in, pair, at, d_bias + at.first_pair, head, dx, sums);
  set_head(sums, 0, head, in.n_heads, d_table);
}

}  // namespace

void disentangled_bias_forward(const DisentangledBias& in, Tensor& bias) {
  const std::vector<DisentangledSequence> sequences = sequences_of(in.offsets);
  const int64_t pairs = in.pairs();
  parallel_for(std::ssize(sequences) * in.n_heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const DisentangledSequence& at = sequences[static_cast<size_t>(task / in.n_heads)];
      const int64_t head = task % in.n_heads;
      if (at.tokens() > 0)
        write_biases(in, at, head, bias.data<float>() + head * pairs + at.first_pair);
    }
  });
}

void disentangled_bias_backward(const DisentangledBias& in, const Tensor& d_bias,
                                DisentangledGradients gradients) {
  gradients.dq.fill_zero();
  gradients.dk.fill_zero();
  const int64_t pairs = in.pairs();
  parallel_for(in.n_heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t head = begin; head < end; ++head) {
      const float* const own = d_bias.data<float>() + head * pairs;
      differentiate_head(in, {in.q, in.position_keys, true}, own, head, gradients.dq,
                         gradients.d_position_keys);
      differentiate_head(in, {in.k, in.position_queries, false}, own, head, gradients.dk,
                         gradients.d_position_queries);
    }
  });
}

}  // namespace heed::kernels::cpu
