#pragma once

#include <cstdint>

// The arguments of the kernels in top_k.cu.
namespace heed::kernels::gpu {

/// Columns of a part of a row, which a block of kTopKThreads threads searches.
constexpr int kTopKColumns = 4096;
constexpr int kTopKThreads = 256;

/// x [rows, columns]; values and indices [rows, k]. A block finds the k best elements of one of
/// the `parts` parts of a row, keys [rows, parts, k]; the best of those are the row's. With one
/// part `keys` is null.
struct TopKArguments {
  const float* x;
  uint64_t* keys;
  float* values;
  int32_t* indices;
  int columns, parts, k;
};

}  // namespace heed::kernels::gpu
