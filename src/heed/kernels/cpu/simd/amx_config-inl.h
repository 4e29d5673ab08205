#pragma once

// The including file must have enabled AMX before.
#include <cstdint>

namespace heed::kernels::cpu {
namespace {

/// The configuration of the eight tiles: what LDTILECFG reads (Intel SDM, volume 1, chapter 18).
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  /// Configures the tiles of this thread, and clears them.
  void load() const {
    // GCC's tile intrinsics do not declare all that they read: this, and what was packed before.
    __asm__ volatile("" : : "r"(this) : "memory");
    _tile_loadconfig(this);
  }
};
static_assert(sizeof(TileConfig) == 64);

}  // namespace
}  // namespace heed::kernels::cpu
