#pragma once

#include <cstdint>

#include "heed/tensor/bfloat16.h"

namespace heed::kernels::cpu {

// Products of attention on Intel's AMX, for keys and values in bf16. Each element is one sum in the
// order of the inner index, whatever the sizes.

/// Rows of the left factor, columns of a panel of the right one, and steps of the inner size.
inline constexpr int64_t kTileRows = 32;
inline constexpr int64_t kTileCols = 32;
inline constexpr int64_t kTileDepth = 32;

/// Whether the machine has such tiles.
bool has_attention_tiles();

/// The left factor: rows of f32, each the sum of rows of bf16. The first is the nearest to it, the
/// next to what that leaves, and so on.
struct TileRows {
  bfloat16* data;
  int64_t step, part_step;  // from row to row, from part to part
  int parts;

  TileRows from(int64_t row) const { return {data + row * step, step, part_step, parts}; }
};

/// Writes `rows` rows of f32 into `to`; `width` is a multiple of kTileDepth.
void split_rows(const float* from, int64_t step, int64_t rows, int64_t width, const TileRows& to);

/// The right factor, as the instructions want it: panels of kTileCols columns, `step` elements
/// apart, each [depth / 2, kTileCols, 2]: pairs of the inner index.
struct TilePanels {
  bfloat16* data;
  int64_t step;
};

/// Packs `count` rows of `width` columns, the inner index going down the rows, and zeros up to a
/// multiple of kTileDepth rows. `width` is a multiple of kTileCols.
void pack_row_pairs(const bfloat16* const* rows, int64_t count, int64_t width,
                    const TilePanels& to);

/// sums [rows, panels * kTileCols], rows `step` apart, (+)= left right, for at most kTileRows rows
/// and a depth that is a multiple of kTileDepth.
struct TileProduct {
  const TileRows& left;
  const TilePanels& right;
  int64_t rows, panels, depth;
  float* sums;
  int64_t step;
  bool accumulate;
};
void multiply_tiles(const TileProduct& product);

/// Gives the tiles' registers back: to be called when a thread has done its last product.
void release_tiles();

}  // namespace heed::kernels::cpu
