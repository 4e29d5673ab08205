#include "heed/ops/adapter.h"

#include <algorithm>

#include "heed/kernels/elementwise.h"
#include "heed/ops/check.h"
#include "heed/ops/dropout.h"

namespace heed {

SelectedRows::SelectedRows(Context& context, std::span<const int32_t> rows)
    : context_(context), all_(context.adapters) {
  const auto place = [&](int64_t row) {
    return std::ranges::lower_bound(rows, row, {}, [](int32_t r) { return int64_t{r}; }) -
           rows.begin();
  };
  for (const AdaptedRows& range : all_) {
    const AdaptedRows own{place(range.begin), place(range.end), range.adapters};
    if (own.begin < own.end) selected_.push_back(own);
  }
  if (!all_.empty()) context_.adapters = selected_;
}

namespace ops {
namespace {

/// x with dropout; x itself at rate 0.
Tensor dropped(const Tensor& x, kernels::Dropout mask) {
  if (mask.rate == 0.0f) return x;
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  kernels::dropout_add_forward(x, {}, mask, y);
  return y;
}

void check(const LowRankUpdate& update, const Parameter& weight) {
  const int64_t rank = update.a->shape[0];
  check_shape(weight.name, update.a->name, update.a->value, {rank, weight.shape[1]});
  check_shape(weight.name, update.b->name, update.b->value, {weight.shape[0], rank});
}

/// c (+)= x weight^T.
void multiply(const Tensor& x, const Parameter& weight, const kernels::PackedMatrix& packed,
              const kernels::MatmulOptions& options, Tensor& c) {
  if (packed.defined())
    kernels::matmul_packed(x, packed, options, c);
  else
    kernels::matmul({x}, {weight.read(x.dtype()), true}, options, c);
}

}  // namespace

LowRankProducts::LowRankProducts(Context& context, const Tensor& x, const Parameter& weight,
                                 Tensor& y) {
  for (const AdaptedRows& range : context.adapters)
    for (const auto& [adapter, factor] : range.adapters) {
      const auto found = adapter->updates.find(&weight);
      if (found == adapter->updates.end()) continue;
      LowRankUpdate update = found->second;
      check(update, weight);
      update.scale *= factor;
      const kernels::Dropout mask = draw_dropout(context, adapter->dropout);
      add(context, x, {range.begin, std::min(range.end, x.rows()), update, {}, mask}, y);
    }
  if (!parts_.empty()) x_ = context.tape->save(x);
}

void LowRankProducts::add(Context& context, const Tensor& x, Part part, Tensor& y) {
  const auto& [a, b, scale, packed_a, packed_b] = part.update;
  if (context.tape) {
    context.tape->use(*a, x.dtype());
    context.tape->use(*b, x.dtype());
  }
  const Tensor rows = dropped(x.row_slice(part.begin, part.end), part.mask);
  Tensor own = y.row_slice(part.begin, part.end);
  part.h = Tensor::empty({rows.rows(), a->shape[0]}, x.dtype());
  multiply(rows, *a, packed_a, {}, part.h);
  kernels::scale(scale, part.h);
  multiply(part.h, *b, packed_b, {.accumulate = true}, own);
  if (context.tape) parts_.push_back(std::move(part));
}

void LowRankProducts::backward(Tape& tape, const Tensor& all_dy, Tensor& all_dx) const {
  for (const auto& [begin, end, update, h, mask] : parts_) {
    const auto& [a, b, scale, packed_a, packed_b] = update;
    const Tensor dy = all_dy.row_slice(begin, end);
    Tensor dx = all_dx.row_slice(begin, end);
    Tensor dh = Tensor::empty(h.shape(), h.dtype());
    kernels::matmul({dy}, {b->read(h.dtype())}, {}, dh);
    kernels::scale(scale, dh);
    if (b->trainable) {
      auto [d_b, accumulate] = tape.gradient(*b).slot();
      kernels::matmul({dy, true}, {h}, {.accumulate = accumulate}, d_b);
    }
    if (a->trainable) {
      auto [d_a, accumulate] = tape.gradient(*a).slot();
      const Tensor x = dropped(x_.tensor().row_slice(begin, end), mask);
      kernels::matmul({dh, true}, {x}, {.accumulate = accumulate}, d_a);
    }
    if (mask.rate == 0.0f) {
      kernels::matmul({dh}, {a->read(h.dtype())}, {.accumulate = true}, dx);
      continue;
    }
    Tensor through = Tensor::empty(dx.shape(), dx.dtype());
    kernels::matmul({dh}, {a->read(h.dtype())}, {}, through);
    kernels::dropout_backward(through, mask, through);
    kernels::add_to(through, dx);
  }
}

}  // namespace ops
}  // namespace heed
