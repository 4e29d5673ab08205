#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "heed/kernels/cpu/simd/grain.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels::cpu {

/// Throws Error unless a and every c are f32 or bf16 and this backend packed the weights. `name`
/// begins the message.
template <typename Product>
void check_products(const char* name, const Tensor& a, std::span<const Product> products) {
  visit_floating(a.dtype(), [](auto) {});
  for (const Product& product : products) {
    require(product.weight->panels != nullptr, "{}: the weight was packed by the reference backend",
            name);
    require(!product.weight->device, "{}: the weight was packed by the gpu backend", name);
    visit_floating(product.c->dtype(), [](auto) {});
  }
}

/// Rows of a in one pass of multiply_grouped: `least` times a power of two, so that most numbers of
/// threads share them evenly, as long as their quants, `row_bytes` each, fit into `pass_bytes`.
inline int64_t rows_per_pass(int64_t least, int64_t row_bytes, int64_t pass_bytes) {
  int64_t rows = least;
  while (2 * rows * row_bytes <= pass_bytes) rows *= 2;
  return rows;
}

/// Multiplies a with `count` weights, at most `pass_rows` rows at a time. For each group of rows
/// [first, first + rows), quantize(slice of a) quantises them once for all weights. work(i, first,
/// rows) returns the job of weight i, whose run(quantised, chunk) computes one of its chunks()
/// chunks. The chunks of all weights share one parallel region.
template <typename Quantize, typename Work>
void multiply_grouped(const Tensor& a, int64_t pass_rows, size_t count, const Quantize& quantize,
                      const Work& work) {
  for (int64_t first = 0; first < a.rows(); first += pass_rows) {
    const int64_t rows = std::min(pass_rows, a.rows() - first);
    const auto quantised = quantize(a.row_slice(first, first + rows));
    parallel_over(
        count, [&](size_t i) { return work(i, first, rows).chunks(); },
        [&](size_t i, int64_t chunk) { work(i, first, rows).run(quantised, chunk); });
  }
}

}  // namespace heed::kernels::cpu
