#pragma once

#include <cstddef>
#include <cstdint>

// The arguments of the kernels in pack_blocks.cu.
namespace heed::kernels::gpu {

/// `rows` rows of `units` times 32 elements, `row_bytes` each, into whole strips. A thread does
/// what a lane will read of a quad.
struct PackBlocksArguments {
  const std::byte* weight;
  std::byte* to;
  int rows, units;
  int64_t row_bytes;
};

}  // namespace heed::kernels::gpu
