#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/kernels/gpu/code/products/matmul_blocks.h"

// The arguments of the kernels in pack_int8.cu, quantise_int8.cu and matmul_int8.cu.
namespace heed::kernels::gpu {

/// 8-bit integers lie as the bytes of block_planes.h do, those of a as in the records of
/// matmul_blocks.h, which have nothing else here. The scales of a weight's rows follow its strips.
constexpr int kInt8QuadBytes = 2048, kInt8RecordBytes = 1024;

/// A block of threads quantises a row: of a weight of any dtype, padded with zeros to whole strips
/// and quads, or of a.
struct QuantiseInt8Arguments {
  const void* x;
  std::byte* quants;
  float* scales;
  int rows, columns, quads;
  int64_t row_bytes;
};
constexpr int kQuantiseInt8Threads = 256;

struct MatmulInt8Arguments {
  MatmulBlocksArguments products;  // units: four for each quad
  const float* row_scales;
};

/// matmul_int8_few: a block multiplies a strip with 8 rows of a.
constexpr int kInt8FewWarps = 8;
constexpr size_t kInt8FewSharedBytes = size_t{4} * kInt8FewWarps * 16 * Record::kRows;

}  // namespace heed::kernels::gpu
