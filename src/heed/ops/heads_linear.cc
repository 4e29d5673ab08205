#include "heed/ops/heads_linear.h"

#include "heed/kernels/columns.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/matmul.h"
#include "heed/kernels/matmul_stored.h"
#include "heed/kernels/quantize.h"
#include "heed/ops/check.h"
#include "heed/tensor/parallel_on_host.h"

namespace heed::ops {
namespace {

void check(const Context& context, const Tensor& x, const HeadMatrices& m) {
  require(!context.tape, "{}: heads_linear has no backward step", m.weight.name);
  require(m.n_heads > 0 && m.begin >= 0 && m.rows > 0 && m.begin + m.rows <= m.stride &&
              m.weight.shape.rank() == 2 && m.weight.shape[0] == m.n_heads * m.stride,
          "{} is {}, it should have rows {} to {} of {} for each of {} heads", m.weight.name,
          m.weight.shape.text(), m.begin, m.begin + m.rows, m.stride, m.n_heads);
  check_width(m.weight.name, "the input", x,
              m.n_heads * (m.transposed ? m.weight.shape[1] : m.rows));
}

/// Rows of a weight in `dtype`.
Tensor rows_of(const Parameter& weight, int64_t begin, int64_t end, DType dtype) {
  if (const Tensor held = weight.elements_in(dtype); held.defined())
    return held.row_slice(begin, end);
  Tensor rows = Tensor::empty({end - begin, weight.value.cols()});
  kernels::dequantize(weight.value.row_slice(begin, end), rows);
  if (dtype == DType::f32) return rows;
  Tensor converted = Tensor::empty(rows.shape(), dtype);
  kernels::convert(rows, converted);
  return converted;
}

/// y = x W, or x W^T, of one head.
void multiply_head(const Tensor& x, const HeadMatrices& m, int64_t head, Tensor& y) {
  const int64_t begin = head * m.stride + m.begin, end = begin + m.rows;
  if (m.transposed && !m.weight.elements_in(x.dtype()).defined())
    kernels::matmul_stored(x, m.weight.value.row_slice(begin, end), {}, y);
  else
    kernels::matmul({x}, {rows_of(m.weight, begin, end, x.dtype()), m.transposed}, {}, y);
}

/// x [N, H w] as [H N, w], all rows of a head side by side.
Tensor head_by_head(const Tensor& x, int64_t n_heads) {
  const int64_t rows = x.rows(), width = x.cols() / n_heads;
  if (rows == 1) return x.reshaped({n_heads, width});
  Tensor y = Tensor::empty({n_heads * rows, width}, x.dtype());
  for (int64_t h = 0; h < n_heads; ++h) {
    Tensor head = y.row_slice(h * rows, (h + 1) * rows);
    kernels::copy_columns(x, {.width = width, .from = {.begin = h * width}}, head);
  }
  return y;
}

/// The inverse: y [H N, w] as [N, H w].
Tensor row_by_row(const Tensor& y, int64_t n_heads) {
  const int64_t rows = y.rows() / n_heads, width = y.cols();
  if (rows == 1) return y.reshaped({1, n_heads * width});
  Tensor x = Tensor::empty({rows, n_heads * width}, y.dtype());
  for (int64_t h = 0; h < n_heads; ++h)
    kernels::copy_columns(y.row_slice(h * rows, (h + 1) * rows),
                          {.width = width, .to = {.begin = h * width}}, x);
  return x;
}

}  // namespace

Tensor heads_linear(Context& context, const Tensor& x, const HeadMatrices& m) {
  check(context, x, m);
  const int64_t rows = x.rows(), width = m.transposed ? m.rows : m.weight.shape[1];
  const Tensor from = head_by_head(x, m.n_heads);
  Tensor to = Tensor::empty({m.n_heads * rows, width}, x.dtype());
  parallel_on_host(m.n_heads, [&](int64_t begin, int64_t end) {
    for (int64_t h = begin; h < end; ++h) {
      Tensor y = to.row_slice(h * rows, (h + 1) * rows);
      multiply_head(from.row_slice(h * rows, (h + 1) * rows), m, h, y);
    }
  });
  return row_by_row(to, m.n_heads);
}

}  // namespace heed::ops
