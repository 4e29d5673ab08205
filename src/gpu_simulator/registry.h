#pragma once

#include <string_view>

#include "gpu_simulator/block.h"
#include "heed/export.h"

namespace heed::gpu_simulator {

/// Makes a kernel known by its name, in place of an earlier one. One for each kernel, at namespace
/// scope.
struct HEED_EXPORT RegisteredKernel {
  explicit RegisteredKernel(const Kernel& kernel);
};

/// Null if there is none.
const Kernel* find_kernel(std::string_view name);

// Exported is what kernels call: those of another library can replace some of a driver's.

// Warp operations: registers as PTX gives them to lanes (ISA, "Warp-level matrix instructions").

/// Register 0 of lane ^ mask.
HEED_EXPORT void shuffle_xor(std::array<Registers, kWarpLanes>& lanes, unsigned mask,
                             TensorCores cores);
/// The largest register 0, in every lane.
HEED_EXPORT void reduce_max(std::array<Registers, kWarpLanes>& lanes, unsigned, TensorCores cores);
/// ldmatrix.x4: registers 0 and 1 hold the address of a row of 16 bytes; row r of matrix i is that
/// of lane 8 i + r.
HEED_EXPORT void load_matrices_x4(std::array<Registers, kWarpLanes>& lanes, unsigned,
                                  TensorCores cores);
/// The same; each matrix is transposed on its way.
HEED_EXPORT void load_matrices_x4_transposed(std::array<Registers, kWarpLanes>& lanes, unsigned,
                                             TensorCores cores);
/// Registers 0 to 3: a, 4 and 5: b, 6 to 9: c; then 0 to 3: d = a b + c.
HEED_EXPORT void mma_m16n8k16_bf16(std::array<Registers, kWarpLanes>& lanes, unsigned,
                                   TensorCores cores);
/// The same with bytes and 32-bit sums, which are exact.
HEED_EXPORT void mma_m16n8k32_s8(std::array<Registers, kWarpLanes>& lanes, unsigned,
                                 TensorCores cores);
/// The same with half the depth: registers 2, 3 and 5, the far half, are zeros.
inline void mma_m16n8k16_s8(std::array<Registers, kWarpLanes>& lanes, unsigned, TensorCores cores) {
  mma_m16n8k32_s8(lanes, 0, cores);
}

}  // namespace heed::gpu_simulator
