#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heed/base/rounding.h"
#include "heed/kernels/cpu/simd/instructions.h"
#include "heed/kernels/cpu/simd/with_rows.h"

namespace heed::kernels::cpu {

/// Columns of c, which are rows of the weight, side by side in a panel: 32 columns over all of K,
/// padded with zeros to a multiple of kInt8Depth.
inline constexpr int64_t kInt8Cols = 32;
inline constexpr int64_t kInt8Depth = 64;
/// A quad is 4 neighbouring k of all columns of a panel: 4 bytes of a column, then those of the
/// next (the layout that VNNI reads).
inline constexpr int64_t kInt8QuadBytes = 4 * kInt8Cols;

/// A panel holds the scale of each column, the initial value of its dot products with biased rows,
/// -kInt8Bias * the sum of its quants, and quants [K / 4, 32, 4].
struct Int8Panel {
  static constexpr int64_t kInitial = 4 * kInt8Cols, kQuants = 2 * kInitial;  // offsets in bytes

  const std::byte* data;
  int64_t depth;  // K, padded

  const float* scales() const { return reinterpret_cast<const float*>(data); }
  const int32_t* initial() const { return reinterpret_cast<const int32_t*>(data + kInitial); }
  const int8_t* quants() const { return reinterpret_cast<const int8_t*>(data + kQuants); }

  static int64_t depth_of(int64_t k) { return round_up(k, kInt8Depth); }
  static int64_t bytes(int64_t depth) { return kQuants + depth * kInt8Cols; }
};

/// How a kernel reads the quants of a's rows.
enum class RowQuants : uint8_t {
  bytes,
  biased,  // unsigned bytes, larger by kInt8Bias
  words    // 16 bits
};

/// What is added to biased quants.
inline constexpr int kInt8Bias = 128;

constexpr int64_t bytes_of(RowQuants quants) { return quants == RowQuants::words ? 2 : 1; }

/// What a kernel computes in one call: exact dot products [rows, 32] of at most
/// Int8Kernel::max_rows rows of a and a panel.
struct Int8Strip {
  const std::byte* a;  // quants as the kernel reads them, rows `row_bytes` apart, a multiple of 64
  int64_t row_bytes;
  int64_t rows;
  Int8Panel panel;
  int32_t* dots;
};

struct Int8Kernel {
  const char* name;
  Instructions needs;
  int64_t min_rows = 0;      // for which it is faster than those after it in int8_kernels()
  int64_t max_rows;          // of a strip
  int64_t row_multiple = 1;  // of a strip, except for the last
  RowQuants row_quants;
  /// Called before the first of several strips of `rows` rows, and after the last; may be null.
  void (*begin)(int64_t rows) = nullptr;
  void (*multiply)(const Int8Strip& strip);
  void (*end)() = nullptr;
};

inline constexpr int64_t kMaxInt8Rows = 32;  // of any kernel

/// For AMX, AVX-512 with VNNI and without, AVX2 with VNNI and without, which are defined on x86
/// only.
extern const Int8Kernel amx_int8_kernel, avx512_vnni_int8_kernel, avx512_int8_kernel,
    avx_vnni_int8_kernel, avx2_int8_kernel;
/// For SDOT and for NEON, defined on 64-bit Arm only.
extern const Int8Kernel neon_dot_int8_kernel, neon_int8_kernel;
/// Plain loops for every machine.
extern const Int8Kernel plain_int8_kernel;

/// Those that this machine can run, the fastest first.
std::vector<const Int8Kernel*> int8_kernels();

/// The kernel for a product of `rows` rows.
const Int8Kernel& int8_kernel(int64_t rows);

}  // namespace heed::kernels::cpu
