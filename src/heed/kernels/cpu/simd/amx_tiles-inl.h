#pragma once

// The eight tiles of Intel's AMX as products of bf16 use them, and those of bytes whose rows have a
// scale each: four of sums, 0 1 over 2 3, two of the left factor, 4 over 5, and two of the right
// one, 6 beside 7. Who includes it has asked the compiler for its instructions before.
#include <cstdint>

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kTile = 16;

/// Gives the tiles of the left factor and of the sums `upper` and `lower` rows; clears all tiles.
void configure(int64_t upper, int64_t lower) {
  struct alignas(64) {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {};
  } config;
  static_assert(sizeof(config) == 64);
  const auto high = static_cast<uint8_t>(upper), low = static_cast<uint8_t>(lower);
  const uint8_t rows[8] = {high, high, low, low, high, low, 16, 16};
  for (int i = 0; i < 8; ++i) config.rows[i] = rows[i];
  // GCC's tile intrinsics do not tell it all that they read: this, and what was packed before.
  __asm__ volatile("" : : "r"(&config) : "memory");
  _tile_loadconfig(&config);
}

/// Sums of 32 columns and, if Lower, more than 16 rows become zeros.
template <bool Lower>
void clear_sums() {
  _tile_zero(0);
  _tile_zero(1);
  if constexpr (Lower) {
    _tile_zero(2);
    _tile_zero(3);
  }
}

/// Reads sums, whose rows are `step` apart; zeros from nullptr.
template <bool Lower>
void load_sums(const float* from, int64_t step) {
  if (!from) return clear_sums<Lower>();
  _tile_loadd(0, from, step * 4);
  _tile_loadd(1, from + kTile, step * 4);
  if constexpr (Lower) {
    _tile_loadd(2, from + kTile * step, step * 4);
    _tile_loadd(3, from + kTile * step + kTile, step * 4);
  }
}

/// T: float, or int32_t where bytes are multiplied.
template <bool Lower, typename T>
void store_sums(T* to, int64_t step) {
  _tile_stored(0, to, step * 4);
  _tile_stored(1, to + kTile, step * 4);
  if constexpr (Lower) {
    _tile_stored(2, to + kTile * step, step * 4);
    _tile_stored(3, to + kTile * step + kTile, step * 4);
  }
}

}  // namespace
}  // namespace heed::kernels::cpu
