#pragma once

#include <cstdint>
#include <span>

namespace heed::gpu_simulator {

/// How a tensor core adds the products of an instruction.
enum class TensorCores : uint8_t {
  ampere,  // compute capability 8.x: two sums of 8 products, 24 bits
  hopper,  // 9.0 and later: one sum of 16 products, 25 bits
};

/// c + sum of a[i] b[i] as one unit adds it: each term is cut to `bits` fractional bits below the
/// largest exponent of all, the terms are added exactly, and the sum is cut to f32. At most 16
/// products. If an operand is not finite, an ordinary sum (Xie et al. 2025, arXiv:2511.10909).
float fused_sum(std::span<const float> a, std::span<const float> b, float c, int bits);

/// c + sum of 16 products as mma.m16n8k16 on bf16 computes one element.
float sum_of_16(std::span<const float, 16> a, std::span<const float, 16> b, float c,
                TensorCores cores);

}  // namespace heed::gpu_simulator
