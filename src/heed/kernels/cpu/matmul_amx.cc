// The bf16 kernel for Intel's AMX: tiles of 16 x 16 sums, four of them at a time. A step of the
// tile unit takes 32 rows of K, in pairs: a tile of a is [16 rows][32 k], one of b [16 pairs][16
// columns][2].
#include "heed/kernels/cpu/matmul_kernel.h"

#if defined(__x86_64__) && defined(__linux__)

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kTile = 16;          // rows of a, columns of b
constexpr int64_t kDepth = 32;         // of K per step
constexpr int64_t kPanel = 2 * kTile;  // mr and nr
constexpr int64_t kTileElements = kTile * kDepth;
constexpr int64_t kTileBytes = kTileElements * 2;

int64_t steps(int64_t k) { return (k + kDepth - 1) / kDepth; }
int64_t panel_bytes(int64_t k) { return steps(k) * 2 * kTileBytes; }

const uint16_t* element(const MatrixView& view, int64_t row, int64_t col) {
  return reinterpret_cast<const uint16_t*>(view.data) + row * view.row_stride +
         col * view.col_stride;
}

#pragma GCC push_options
// GCC 12 takes the deliberately undefined operands inside its own intrinsics for mistakes.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,amx-tile,amx-bf16")

/// Transposes 16 x 16 numbers of 32 bits.
inline void transpose16(__m512i (&r)[16]) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

/// Pairs of 16 neighbouring elements: (first[i], second[i]) as 32 bits.
inline __m512i interleave(const uint16_t* first, const uint16_t* second) {
  const __m512i low =
      _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(first)));
  const __m512i high =
      _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(second)));
  return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

inline void store_rows(const __m512i (&rows)[16], uint16_t* tile) {
  for (int i = 0; i < 16; ++i)
    _mm512_store_si512(reinterpret_cast<__m512i*>(tile + i * kDepth), rows[i]);
}

/// A whole tile of a whose rows lie along K.
void tile_of_rows(const MatrixView& a, int64_t row, int64_t k, uint16_t* tile) {
  for (int64_t r = 0; r < kTile; ++r)
    _mm512_store_si512(reinterpret_cast<__m512i*>(tile + r * kDepth),
                       _mm512_loadu_si512(element(a, row + r, k)));
}

/// A whole tile of a transposed factor, whose columns lie along memory.
void tile_of_transposed_rows(const MatrixView& a, int64_t row, int64_t k, uint16_t* tile) {
  __m512i lines[16];
  for (int64_t p = 0; p < 16; ++p)
    lines[p] = interleave(element(a, row, k + 2 * p), element(a, row, k + 2 * p + 1));
  transpose16(lines);
  store_rows(lines, tile);
}

/// A whole tile of b whose rows lie along memory.
void tile_of_cols(const MatrixView& b, int64_t k, int64_t col, uint16_t* tile) {
  for (int64_t p = 0; p < 16; ++p)
    _mm512_store_si512(reinterpret_cast<__m512i*>(tile + p * kDepth),
                       interleave(element(b, k + 2 * p, col), element(b, k + 2 * p + 1, col)));
}

/// A whole tile of a transposed b, whose columns lie along K.
void tile_of_transposed_cols(const MatrixView& b, int64_t k, int64_t col, uint16_t* tile) {
  __m512i lines[16];
  for (int64_t j = 0; j < 16; ++j) lines[j] = _mm512_loadu_si512(element(b, k, col + j));
  transpose16(lines);
  store_rows(lines, tile);
}

void configure_tiles() {
  struct alignas(64) {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t bytes_per_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } config;
  static_assert(sizeof(config) == 64);
  thread_local bool configured = false;
  if (configured) return;
  _tile_loadconfig(&config);
  configured = true;
}

void multiply_panels(int64_t k, const std::byte* a, const std::byte* b, float* c, int64_t stride,
                     bool accumulate) {
  const int64_t pitch = stride * 4;
  if (accumulate) {
    _tile_loadd(0, c, pitch);
    _tile_loadd(1, c + kTile, pitch);
    _tile_loadd(2, c + kTile * stride, pitch);
    _tile_loadd(3, c + kTile * stride + kTile, pitch);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (int64_t step = steps(k); step > 0; --step) {
    _tile_loadd(4, a, 64);
    _tile_loadd(6, b, 64);
    _tile_loadd(5, a + kTileBytes, 64);
    _tile_loadd(7, b + kTileBytes, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(3, 5, 7);
    a += 2 * kTileBytes;
    b += 2 * kTileBytes;
  }
  _tile_stored(0, c, pitch);
  _tile_stored(1, c + kTile, pitch);
  _tile_stored(2, c + kTile * stride, pitch);
  _tile_stored(3, c + kTile * stride + kTile, pitch);
}

/// At most 16 rows: half of the tiles.
void multiply_half_panel(int64_t k, const std::byte* a, const std::byte* b, float* c,
                         int64_t stride, bool accumulate) {
  const int64_t pitch = stride * 4;
  if (accumulate) {
    _tile_loadd(0, c, pitch);
    _tile_loadd(1, c + kTile, pitch);
  } else {
    _tile_zero(0);
    _tile_zero(1);
  }
  for (int64_t step = steps(k); step > 0; --step) {
    _tile_loadd(4, a, 64);
    _tile_loadd(6, b, 64);
    _tile_loadd(7, b + kTileBytes, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    a += 2 * kTileBytes;
    b += 2 * kTileBytes;
  }
  _tile_stored(0, c, pitch);
  _tile_stored(1, c + kTile, pitch);
}

#pragma GCC diagnostic pop
#pragma GCC pop_options

/// What the vector paths cannot take: the edges of a matrix, filled up with zeros.
void edge_tile_a(const MatrixView& a, int64_t row, int64_t k, uint16_t* tile) {
  for (int64_t r = 0; r < kTile; ++r)
    for (int64_t i = 0; i < kDepth; ++i)
      tile[r * kDepth + i] =
          row + r < a.rows && k + i < a.cols ? *element(a, row + r, k + i) : uint16_t{0};
}

void edge_tile_b(const MatrixView& b, int64_t k, int64_t col, uint16_t* tile) {
  for (int64_t i = 0; i < kDepth; ++i)
    for (int64_t j = 0; j < kTile; ++j)
      tile[i / 2 * kDepth + 2 * j + i % 2] =
          k + i < b.rows && col + j < b.cols ? *element(b, k + i, col + j) : uint16_t{0};
}

void pack_a(const MatrixView& a, int64_t first_row, std::byte* panel) {
  auto* tile = reinterpret_cast<uint16_t*>(panel);
  for (int64_t k = 0; k < a.cols; k += kDepth)
    for (int64_t row = first_row; row < first_row + kPanel; row += kTile, tile += kTileElements) {
      if (row + kTile > a.rows || k + kDepth > a.cols)
        edge_tile_a(a, row, k, tile);
      else if (a.col_stride == 1)
        tile_of_rows(a, row, k, tile);
      else
        tile_of_transposed_rows(a, row, k, tile);
    }
}

void pack_b(const MatrixView& b, int64_t first_col, std::byte* panel) {
  auto* tile = reinterpret_cast<uint16_t*>(panel);
  for (int64_t k = 0; k < b.rows; k += kDepth)
    for (int64_t col = first_col; col < first_col + kPanel; col += kTile, tile += kTileElements) {
      if (col + kTile > b.cols || k + kDepth > b.rows)
        edge_tile_b(b, k, col, tile);
      else if (b.col_stride == 1)
        tile_of_cols(b, k, col, tile);
      else
        tile_of_transposed_cols(b, k, col, tile);
    }
}

void multiply(int64_t k, const std::byte* a, const std::byte* b, float* c, int64_t stride,
              int64_t rows, bool accumulate) {
  configure_tiles();
  const bool half = rows <= kTile;
  if (rows % kTile == 0) {
    (half ? multiply_half_panel : multiply_panels)(k, a, b, c, stride, accumulate);
    return;
  }
  alignas(64) float buffer[kPanel * kPanel] = {};
  if (accumulate)
    for (int64_t r = 0; r < rows; ++r)
      std::memcpy(buffer + r * kPanel, c + r * stride, kPanel * sizeof(float));
  (half ? multiply_half_panel : multiply_panels)(k, a, b, buffer, kPanel, accumulate);
  for (int64_t r = 0; r < rows; ++r)
    std::memcpy(c + r * stride, buffer + r * kPanel, kPanel * sizeof(float));
}

/// The processor has the instructions, and the system lets this process use the tile registers.
bool amx_available() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  constexpr unsigned kBf16 = 1u << 22, kTiles = 1u << 24;
  if ((d & kBf16) == 0 || (d & kTiles) == 0 || !__builtin_cpu_supports("avx512bw")) return false;
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

const MatmulKernel* amx_kernel() {
  static const MatmulKernel kernel{.name = "amx",
                                   .mr = kPanel,
                                   .nr = kPanel,
                                   .a_panel_bytes = panel_bytes,
                                   .b_panel_bytes = panel_bytes,
                                   .pack_a = pack_a,
                                   .pack_b = pack_b,
                                   .multiply = multiply};
  static const bool available = amx_available();
  return available ? &kernel : nullptr;
}

}  // namespace heed::kernels::cpu

#else

namespace heed::kernels::cpu {
const MatmulKernel* amx_kernel() { return nullptr; }
}  // namespace heed::kernels::cpu

#endif
