#include "heed/kernels/matmul.h"

namespace heed::kernels::reference {
namespace {

/// The elements of a factor in f32, by row and column.
template <typename T>
class Elements {
 public:
  explicit Elements(const Factor& factor)
      : data_(factor.matrix.data<T>()),
        row_stride_(factor.transposed ? 1 : factor.matrix.cols()),
        col_stride_(factor.transposed ? factor.matrix.cols() : 1) {}

  T operator()(int64_t row, int64_t col) const {
    return data_[row * row_stride_ + col * col_stride_];
  }
  double wide(int64_t row, int64_t col) const {
    return static_cast<double>(static_cast<float>((*this)(row, col)));
  }

 private:
  const T* data_;
  int64_t row_stride_, col_stride_;
};

template <typename In, typename Out>
void multiply(const Factor& left, const Factor& right, const MatmulOptions& options, Tensor& c) {
  const Elements<In> a(left), b(right);
  const int64_t m = left.rows(), depth = left.cols(), n = right.cols();
  const float* bias = options.bias.defined() ? options.bias.data<float>() : nullptr;
  Out* to = c.data<Out>();
  for (int64_t row = 0; row < m; ++row)
    for (int64_t col = 0; col < n; ++col, ++to) {
      double sum = options.accumulate ? static_cast<double>(static_cast<float>(*to)) : 0.0;
      if (bias) sum += static_cast<double>(bias[col]);
      for (int64_t k = 0; k < depth; ++k) sum += a.wide(row, k) * b.wide(k, col);
      *to = Out(static_cast<float>(sum));
    }
}

}  // namespace

void matmul(const Factor& a, const Factor& b, const MatmulOptions& options, Tensor& c) {
  visit_floating(a.matrix.dtype(), [&](auto in) {
    visit_floating(c.dtype(),
                   [&](auto out) { multiply<decltype(in), decltype(out)>(a, b, options, c); });
  });
}

/// The matrix itself, [K, N].
PackedMatrix pack(const Factor& b) {
  PackedMatrix packed{.panels = Tensor::empty({b.rows(), b.cols()}, b.matrix.dtype()),
                      .rows = b.rows(),
                      .cols = b.cols()};
  visit_floating(b.matrix.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Elements<T> elements(b);
    T* to = packed.panels.data<T>();
    for (int64_t row = 0; row < packed.rows; ++row)
      for (int64_t col = 0; col < packed.cols; ++col) *to++ = elements(row, col);
  });
  return packed;
}

void matmul_packed(const Tensor& a, const PackedMatrix& b, const MatmulOptions& options,
                   Tensor& c) {
  require(!b.kernel, "matmul_packed: b was packed by the cpu backend");
  reference::matmul({a}, {b.panels}, options, c);
}

}  // namespace heed::kernels::reference
