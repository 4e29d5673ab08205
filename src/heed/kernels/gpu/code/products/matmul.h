#pragma once

#include <cstdint>

// The arguments and the tiles of the kernels in matmul_bf16.cu, matmul_f32.cu and matmul_copy.cu.
namespace heed::kernels::gpu {

/// c [rows, columns] = first second (+ bias) (+ c), with first [rows, depth] and second [depth,
/// columns]. A kernel for few rows takes the factors the other way round: it computes the
/// transpose of c, whose rows are c's columns. A factor is "along" the depth if it is stored as
/// rows of consecutive k (a as it is, b transposed), else as depth rows of consecutive rows or
/// columns of c.
struct MatmulArguments {
  const void *first, *second;           // aligned to 16 bytes
  int64_t first_stride, second_stride;  // elements between stored rows, a multiple of 16 bytes
  int rows, columns, depth;
  void* c;
  const float* bias;  // an element for each column of c, or null
  int64_t c_stride;
  bool c_is_bf16, accumulate;
};

/// The part of c that a block computes in one go, and how it is divided.
struct MatmulTile {
  int rows, columns;
  /// Of a warp (bf16), or of a thread (f32).
  int part_rows, part_columns;
  /// k in a stage of the ring of stages in shared memory.
  int depth, stages;
  /// That a multiprocessor runs at a time.
  int blocks;
  /// Lanes of a warp beside each other in the rows (f32).
  int lane_rows = 0;
  int element_bytes = 2;

  constexpr int parts() const { return rows / part_rows * (columns / part_columns); }
  constexpr int threads() const { return lane_rows > 0 ? parts() : 32 * parts(); }
  constexpr int stage_bytes() const { return (rows + columns) * depth * element_bytes; }
  constexpr int shared_bytes() const { return stages * stage_bytes(); }
};

// Large tiles, the less data read for an operation the larger they are.
inline constexpr MatmulTile kBf16Tile128x256{128, 256, 64, 64, 64, 4, 1};
inline constexpr MatmulTile kBf16Tile128x128{128, 128, 64, 64, 64, 3, 2};
inline constexpr MatmulTile kBf16Tile64x128{64, 128, 32, 64, 64, 4, 2};
inline constexpr MatmulTile kBf16Tile64x64{64, 64, 32, 32, 64, 4, 3};
// For few rows: 32 columns of c, or 16, by at most 8, 16, 32 or 64 rows. A block has 20 to 32 KiB
// of the weight on their way. Of 33 rows on, a takes more bandwidth of the level-2 cache than the
// weight does of memory, so that wider tiles are better where there are enough of them.
inline constexpr MatmulTile kBf16Few8{32, 8, 16, 8, 128, 5, 4};
inline constexpr MatmulTile kBf16Few16{32, 16, 16, 16, 128, 5, 3};
inline constexpr MatmulTile kBf16Few32{32, 32, 16, 32, 128, 5, 2};
inline constexpr MatmulTile kBf16Few64{32, 64, 16, 32, 64, 8, 2};
inline constexpr MatmulTile kBf16Middle64{64, 64, 32, 32, 64, 6, 2};
inline constexpr MatmulTile kBf16Wide64{128, 64, 32, 32, 64, 4, 2};
inline constexpr MatmulTile kBf16Narrow8{16, 8, 16, 8, 128, 8, 4};
inline constexpr MatmulTile kBf16Narrow16{16, 16, 16, 16, 128, 8, 3};

inline constexpr MatmulTile kF32Tile128x128{128, 128, 8, 8, 32, 3, 1, 8, 4};
inline constexpr MatmulTile kF32Tile64x64{64, 64, 4, 4, 32, 4, 2, 8, 4};
inline constexpr MatmulTile kF32Few4{32, 4, 1, 1, 64, 5, 4, 32, 4};
inline constexpr MatmulTile kF32Few16{32, 16, 1, 4, 64, 5, 3, 32, 4};

/// to [rows, to_stride] = from [rows, columns], or its transpose, followed by zeros.
struct MatmulCopyArguments {
  const void* from;
  void* to;
  int64_t from_stride, to_stride;
  int rows, columns;
  bool transposed;
};
inline constexpr int kMatmulCopyTile = 32;

}  // namespace heed::kernels::gpu
