#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heed/base/rounding.h"

namespace heed::kernels::cpu {

/// Columns of c, which are rows of the weight, that stand side by side in a panel: 32 columns over
/// all of K, which is filled up with zeros to a multiple of kInt8Depth.
inline constexpr int64_t kInt8Cols = 32;
inline constexpr int64_t kInt8Depth = 64;
/// Bytes of a panel for 4 neighbouring k: those of a column, then those of the next.
inline constexpr int64_t kInt8QuadBytes = 4 * kInt8Cols;

/// A panel holds the scale of each column, then where its dots begin for rows that are biased:
/// -kInt8Bias * the sum of its quants, then quants [K / 4, 32, 4].
struct Int8Panel {
  static constexpr int64_t kStarts = 4 * kInt8Cols, kQuants = 2 * kStarts;  // bytes before them

  const std::byte* data;
  int64_t depth;  // K, filled up

  const float* scales() const { return reinterpret_cast<const float*>(data); }
  const int32_t* starts() const { return reinterpret_cast<const int32_t*>(data + kStarts); }
  const int8_t* quants() const { return reinterpret_cast<const int8_t*>(data + kQuants); }

  static int64_t depth_of(int64_t k) { return round_up(k, kInt8Depth); }
  static int64_t bytes(int64_t depth) { return kQuants + depth * kInt8Cols; }
};

/// What an Int8Kernel that multiplies bytes without a sign by such with one wants added to a.
inline constexpr int kInt8Bias = 128;

/// The unit of work of a kernel: exact dots [rows, 32] of at most Int8Kernel::rows rows of a and a
/// panel.
struct Int8Strip {
  const int8_t* a;  // rows `row_bytes` apart, a multiple of 64
  int64_t row_bytes;
  int64_t rows;
  Int8Panel panel;
  int32_t* dots;
};

struct Int8Kernel {
  const char* name;
  int64_t least_rows;  // for which it is faster than those after it
  int64_t rows;        // that it is given at most
  bool biased;         // a's quants are larger by kInt8Bias, as bytes without a sign
  /// Before the first of several calls with strips of so many rows, and after the last; may be
  /// null.
  void (*begin)(int64_t rows) = nullptr;
  void (*multiply)(const Int8Strip& strip);
  void (*end)() = nullptr;
};

inline constexpr int64_t kMostInt8Rows = 32;  // of any kernel

/// Plain loops, and those for AVX2, without VNNI and with it, for AVX-512 with VNNI and for AMX;
/// all but the first are null where the machine does not have them.
const Int8Kernel* plain_int8_kernel();
const Int8Kernel* avx2_int8_kernel();
const Int8Kernel* avx_vnni_int8_kernel();
const Int8Kernel* avx512_vnni_int8_kernel();
const Int8Kernel* amx_int8_kernel();

/// Those that this machine has, the fastest first.
std::vector<const Int8Kernel*> int8_kernels();

/// Makes matmul_int8 use that kernel alone; null: what is fastest. For tests.
void force_int8_kernel(const Int8Kernel* kernel);

/// The kernel for a product of so many rows.
const Int8Kernel& int8_kernel(int64_t rows);

}  // namespace heed::kernels::cpu
