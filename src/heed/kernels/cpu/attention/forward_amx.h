#pragma once

#include <cstdint>

#include "heed/tensor/bfloat16.h"

namespace heed::kernels::cpu {

// Products of attention on Intel's AMX, for keys and values in bf16. Each element is one sum in the
// order of the inner index, whatever the sizes.

/// Rows of the left factor, columns of a panel of the right one, and the multiple of the inner
/// size.
inline constexpr int64_t kTileRows = 32;
inline constexpr int64_t kTileCols = 32;
inline constexpr int64_t kTileDepth = 32;

/// Whether the machine has such tiles.
bool has_attention_tiles();

/// The left factor: f32 rows as sums of bf16 parts. The first part is the nearest bf16, the next
/// the nearest to the difference, and so on.
struct TileRows {
  bfloat16* data;
  int64_t stride, part_stride;  // elements from row to row, from part to part
  int parts;

  TileRows from(int64_t row) const { return {data + row * stride, stride, part_stride, parts}; }
};

/// Splits `rows` f32 rows into `to`; `width` is a multiple of kTileDepth.
void split_into_bf16(const float* from, int64_t stride, int64_t rows, int64_t width,
                     const TileRows& to);

/// The right factor: panels of kTileCols columns, `stride` elements apart, each
/// [depth / 2, kTileCols, 2] with pairs of the inner index.
struct TilePanels {
  bfloat16* data;
  int64_t stride;
};

/// Packs `count` rows, over which the inner index runs, of `width` columns, a multiple of
/// kTileCols; pads them with zeros to a multiple of kTileDepth rows.
void pack_row_pairs(const bfloat16* const* rows, int64_t count, int64_t width,
                    const TilePanels& to);

/// sums [rows, panels * kTileCols], rows `stride` apart, (+)= left right, for at most kTileRows
/// rows and a depth that is a multiple of kTileDepth.
struct TileProduct {
  const TileRows& left;
  const TilePanels& right;
  int64_t rows, panels, depth;
  float* sums;
  int64_t stride;
  bool accumulate;
};
void multiply_tiles(const TileProduct& product);

/// Releases the tile registers; to be called after a thread's last product.
void release_tiles();

}  // namespace heed::kernels::cpu
