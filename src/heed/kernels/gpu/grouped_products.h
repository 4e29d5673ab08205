#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string_view>

#include "heed/base/rounding.h"
#include "heed/kernels/gpu/code/blocks/block_planes.h"
#include "heed/kernels/gpu/code/products/matmul_blocks.h"
#include "heed/kernels/gpu/launch.h"
#include "heed/kernels/gpu/matmul_tiles.h"

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

/// A tile of the kernels for many rows, and about how many cycles a block takes for a quad: alone
/// on a multiprocessor, and where others hide what it waits for.
struct BlockTileCost {
  std::string_view name;
  BlockTile tile;
  int alone, beside;
};
inline constexpr std::array kBlockTileCosts{BlockTileCost{"128x128", kBlockTile128x128, 3300, 3300},
                                            BlockTileCost{"64x64", kBlockTile64x64, 1100, 800},
                                            BlockTileCost{"32x64", kBlockTile32x64, 700, 450}};

/// The index in kBlockTileCosts of the tile for these products of `rows` rows of a.
/// shared_bytes(tile): what the kernel takes.
template <typename Product, typename SharedBytes>
size_t block_tile(std::span<const Product> products, int64_t rows, SharedBytes shared_bytes) {
  const auto& gpu = current_gpu().properties();
  size_t found = kBlockTileCosts.size() - 1;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < kBlockTileCosts.size(); ++i) {
    const auto& [name, tile, alone, beside] = kBlockTileCosts[i];
    if (static_cast<int64_t>(shared_bytes(tile)) > gpu.shared_bytes) continue;
    if (name == forced_matmul_tile()) return i;
    int64_t blocks = 0;
    for (const Product& product : products)
      blocks += ceil_div(product.weight->rows, int64_t{tile.weight_rows()});
    blocks *= ceil_div(rows, int64_t{tile.rows()});
    const int64_t time =
        std::max<int64_t>(alone, ceil_div(blocks, int64_t{gpu.multiprocessors}) * beside);
    if (time < least) {
      least = time;
      found = i;
    }
  }
  return found;
}

/// A launch of the kernel of a tile: `blocks` by the rows of a.
inline LaunchShape tile_shape(const BlockTile& tile, unsigned blocks, int64_t rows,
                              size_t shared_bytes) {
  return {.x = blocks,
          .y = blocks_for(rows, tile.rows()),
          .threads = static_cast<unsigned>(tile.threads()),
          .shared_bytes = shared_bytes};
}

}  // namespace heed::kernels::gpu
