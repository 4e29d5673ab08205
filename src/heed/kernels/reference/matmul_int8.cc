#include "heed/kernels/matmul_int8.h"

#include <vector>

#include "heed/kernels/quantize.h"
#include "heed/kernels/reference/quantised.h"

namespace heed::kernels::reference {
namespace {

template <typename T>
std::vector<Quantised> quantised_rows(const Tensor& x) {
  std::vector<Quantised> rows;
  for (int64_t i = 0; i < x.rows(); ++i) {
    const T* row = x.data<T>() + i * x.cols();
    rows.push_back(quantised({row, row + x.cols()}));
  }
  return rows;
}

void multiply(const Tensor& a, const PackedInt8& weight, const Tensor& bias, Tensor& c) {
  require(weight.weight.defined(), "matmul_int8: the weight was packed by the cpu backend");
  Tensor wide = Tensor::empty({weight.rows, weight.cols});
  reference::dequantize(weight.weight, wide);
  const std::vector<Quantised> cols = quantised_rows<float>(wide);
  visit_floating(a.dtype(), [&](auto in) {
    visit_floating(c.dtype(), [&](auto out) {
      using Out = decltype(out);
      Out* to = c.data<Out>();
      for (const Quantised& row : quantised_rows<decltype(in)>(a))
        for (int64_t n = 0; n < weight.rows; ++n) {
          const Quantised& col = cols[static_cast<size_t>(n)];
          int32_t dot = 0;
          for (size_t k = 0; k < row.quants.size(); ++k) dot += row.quants[k] * col.quants[k];
          float value = static_cast<float>(dot) * (row.scale * col.scale);
          if (bias.defined()) value += bias.data<float>()[n];
          *to++ = Out(value);
        }
    });
  });
}

}  // namespace

PackedInt8 pack_int8(const Tensor& weight) {
  require(weight.cols() <= kMaxInt8Cols, "pack_int8: the weight has {} columns, at most {} are",
          weight.cols(), kMaxInt8Cols);
  return {.rows = weight.rows(), .cols = weight.cols(), .weight = weight};
}

void matmul_int8_grouped(const Tensor& a, std::span<const Int8Product> products) {
  for (const Int8Product& product : products)
    multiply(a, *product.weight, *product.bias, *product.c);
}

}  // namespace heed::kernels::reference
