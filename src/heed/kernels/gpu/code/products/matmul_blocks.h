#pragma once

#include <cstddef>
#include <cstdint>

// The arguments of the kernels in quantise_blocks.cu and matmul_blocks_*.cu.
namespace heed::kernels::gpu {

/// Rows of activations, quantised by 32 elements (a unit), lie in records: for each 8 rows (a
/// group) and each 4 units (a quad)
///   int8 [unit][lane][8]      lane 4 g + t: elements [4 t, 4 t + 4) and [16 + 4 t, ...) of row g
///   f32 scales [t][unit][2]   of rows 2 t and 2 t + 1
///   f32 sums [t][unit][2]     of a unit's integers
///   f32 sums [t][unit][half][2]
/// Units that rows lack are zeros; rows after the last one are undefined.
struct Record {
  static constexpr int kRows = 8, kUnits = 4;
  static constexpr int kScales = 1024, kSums = 1152, kHalfSums = 1280, kBytes = 1536;
};

/// x [rows, 32 units] of f32 or bf16. A warp quantises a quad of a row.
struct QuantiseBlocksArguments {
  const void* x;
  std::byte* records;
  int rows, units;
};

/// Products of one a with weights of one type.
struct MatmulBlocksArguments {
  static constexpr int kMaxProducts = 8;
  struct Product {
    const std::byte* weight;
    const float* bias;  // null: none
    void* c;
    int rows, first_block;  // of the weight; the first block_x() that works on it
    bool bf16;              // c's dtype
  };
  Product products[kMaxProducts];
  int count;
  const std::byte* records;
  int rows, units;  // of a
};

/// matmul_blocks_few_*: a block multiplies a strip of 16 rows of a weight with some rows of a. This
/// many warps multiply, one more adds up.
constexpr int kFewWarps = 8, kFewThreads = 32 * (kFewWarps + 1);
/// Its shared memory, for so many rows of a.
constexpr size_t few_shared_bytes(int columns) {
  constexpr int kUnits = kFewWarps * Record::kUnits;
  return static_cast<size_t>(2 * 4 * kUnits * (16 * columns + (columns + 7) / 8 * 8));
}

/// The part of c that a block computes in the kernels for many rows, and how it is divided: strips
/// of 16 rows of a weight by groups of 8 rows of a.
struct BlockTile {
  int strips, groups, warp_strips, warp_groups;
  /// Quads in shared memory.
  int stages;
  /// That a multiprocessor runs at a time.
  int blocks;

  constexpr int weight_rows() const { return 16 * strips; }
  constexpr int rows() const { return Record::kRows * groups; }
  constexpr int threads() const { return 32 * (strips / warp_strips) * (groups / warp_groups); }
  /// Groups of `quads` quads of a weight in shared memory.
  constexpr int weight_stages(int quads) const { return (stages + quads - 2) / quads + 1; }
  /// A record has so many bytes there, a group of quads so many for each strip.
  constexpr size_t shared_bytes(int record_bytes, int group_bytes, int quads) const {
    return static_cast<size_t>(stages * groups * record_bytes +
                               weight_stages(quads) * strips * group_bytes);
  }
};
inline constexpr BlockTile kBlockTile128x128{8, 16, 2, 8, 3, 1};
inline constexpr BlockTile kBlockTile64x64{4, 8, 1, 4, 3, 2};
inline constexpr BlockTile kBlockTile32x64{2, 8, 1, 2, 5, 2};

/// of(size) for every tile.
#define HEED_FOR_BLOCK_TILES(of) of(128x128) of(64x64) of(32x64)

/// Bytes of a record that types with so many minimums for 32 elements use.
constexpr int used_record_bytes(int minimums) {
  return minimums == 0 ? Record::kSums : minimums == 1 ? Record::kHalfSums : Record::kBytes;
}

}  // namespace heed::kernels::gpu
