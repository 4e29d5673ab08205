#pragma once

#include <algorithm>
#include <span>

#include "heed/base/rounding.h"
#include "heed/kernels/gpu/code/block_planes.h"
#include "heed/kernels/gpu/code/matmul_blocks.h"
#include "heed/kernels/gpu/launch.h"

// What products with weights of integers share.

namespace heed::kernels::gpu {

/// A weight of the host is copied in slices of about so many bytes.
inline constexpr int64_t kSliceBytes = int64_t{64} << 20;

/// Calls pack(bytes on the GPU, begin, end) for rows [begin, end) of a weight, from multiples of 16
/// on: for all at once, or for slices of a weight of the host that are copied one by one.
template <typename Pack>
void for_slices(const Tensor& weight, const Pack& pack) {
  const int64_t rows = weight.rows(), row_bytes = weight.row_bytes();
  if (weight.device() || rows * row_bytes == 0)
    return pack(weight.memory_of(weight.device()), 0, rows);
  const int64_t fit = round_up(std::max<int64_t>(1, kSliceBytes / row_bytes), int64_t{kStripRows});
  const int64_t slice = std::min(rows, fit);
  const auto copy = current_gpu().allocate(static_cast<size_t>(slice * row_bytes));
  for (int64_t begin = 0; begin < rows; begin += slice) {
    const int64_t end = std::min(begin + slice, rows);
    current_gpu().copy_to_device(copy.get(), {weight.raw() + begin * row_bytes,
                                              static_cast<size_t>((end - begin) * row_bytes)});
    pack(copy.get(), begin, end);
  }
}

/// Throws Error unless a and every c are f32 or bf16 and the weights were packed on this thread's
/// GPU. `name` begins the message.
template <typename Product>
void check_gpu_products(const char* name, const Tensor& a, std::span<const Product> products) {
  visit_floating(a.dtype(), [](auto) {});
  for (const Product& product : products) {
    require(product.weight->device == current_device(), "{}: the weight was not packed on {}", name,
            current_gpu().name());
    visit_floating(product.c->dtype(), [](auto) {});
  }
}

/// Puts the products in a launch whose blocks have `block_rows` rows of a weight. Returns its
/// blocks.
template <typename Product>
unsigned put_products(std::span<const Product> products, int block_rows,
                      MatmulBlocksArguments& to) {
  unsigned blocks = 0;
  for (size_t i = 0; i < products.size(); ++i) {
    const auto& [weight, bias, c] = products[i];
    to.products[i] = {.weight = weight->panels.get(),
                      .bias = elements<float>(*bias),
                      .c = memory(*c),
                      .rows = static_cast<int>(weight->rows),
                      .first_block = static_cast<int>(blocks),
                      .bf16 = c->dtype() == DType::bf16};
    blocks += blocks_for(weight->rows, block_rows);
  }
  to.count = static_cast<int>(products.size());
  return blocks;
}

}  // namespace heed::kernels::gpu
