#pragma once

// How products of bf16, and of int8 with per-channel scales, use the eight tiles of Intel's AMX:
// four hold sums (0 and 1 above 2 and 3), two the left factor (4 above 5) and two the right factor
// (6 beside 7). The including file must have enabled AMX before.
#include <cstdint>

#include "heed/kernels/cpu/simd/amx_config-inl.h"

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kTile = 16;

/// Gives the tiles of the left factor and of the sums `upper` and `lower` rows; clears all tiles.
void configure(int64_t upper, int64_t lower) {
  const auto high = static_cast<uint8_t>(upper), low = static_cast<uint8_t>(lower);
  const uint8_t rows[8] = {high, high, low, low, high, low, 16, 16};
  TileConfig config;
  for (int i = 0; i < 8; ++i) {
    config.row_bytes[i] = 64;
    config.rows[i] = rows[i];
  }
  config.load();
}

/// Clears the sums of 32 columns and up to 16 rows or, with Lower, 32.
template <bool Lower>
void clear_sums() {
  _tile_zero(0);
  _tile_zero(1);
  if constexpr (Lower) {
    _tile_zero(2);
    _tile_zero(3);
  }
}

/// Reads the sums from rows `stride` apart; null: clears them.
template <bool Lower>
void load_sums(const float* from, int64_t stride) {
  if (!from) return clear_sums<Lower>();
  _tile_loadd(0, from, stride * 4);
  _tile_loadd(1, from + kTile, stride * 4);
  if constexpr (Lower) {
    _tile_loadd(2, from + kTile * stride, stride * 4);
    _tile_loadd(3, from + kTile * stride + kTile, stride * 4);
  }
}

/// T: float, or int32_t for products of bytes.
template <bool Lower, typename T>
void store_sums(T* to, int64_t stride) {
  _tile_stored(0, to, stride * 4);
  _tile_stored(1, to + kTile, stride * 4);
  if constexpr (Lower) {
    _tile_stored(2, to + kTile * stride, stride * 4);
    _tile_stored(3, to + kTile * stride + kTile, stride * 4);
  }
}

}  // namespace
}  // namespace heed::kernels::cpu
