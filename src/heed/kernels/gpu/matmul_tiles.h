#pragma once

#include <span>
#include <string_view>

#include "heed/tensor/dtype.h"

namespace heed::kernels::gpu {

/// The kernels for products of f32 or bf16, by the names of their tiles ("128x256", "few_8"), or
/// those for many rows with weights of blocks or 8-bit integers, for any other dtype.
std::span<const std::string_view> matmul_tiles(DType dtype);

/// For tests and measurements: while this lives, products of this thread use the tile of that name
/// wherever it fits, instead of one that is chosen by the sizes.
class ForcedMatmulTile {
 public:
  explicit ForcedMatmulTile(std::string_view name);
  ~ForcedMatmulTile();
  ForcedMatmulTile(const ForcedMatmulTile&) = delete;
  ForcedMatmulTile& operator=(const ForcedMatmulTile&) = delete;

 private:
  std::string_view before_;
};

/// The name that a ForcedMatmulTile of this thread gives, or nothing.
std::string_view forced_matmul_tile();

}  // namespace heed::kernels::gpu
