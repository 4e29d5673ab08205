#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include "gpu_simulator/block.h"
#include "gpu_simulator/registry.h"
#include "heed/tensor/float16.h"

// What kernels are written in, on the simulator: see gpu/code/operations.h, which lists it.

#define HEED_DEVICE inline
#define HEED_UNROLL

#define HEED_GPU_KERNEL(name, Arguments, arguments)                                   \
  static void name(const Arguments& arguments);                                       \
  static const heed::gpu_simulator::RegisteredKernel registered_##name{               \
      {#name, [](const void* bytes) { name(*static_cast<const Arguments*>(bytes)); }, \
       sizeof(Arguments)}};                                                           \
  static void name(const Arguments& arguments)
#define HEED_GPU_KERNEL_OF(threads, blocks, name, Arguments, arguments) \
  HEED_GPU_KERNEL(name, Arguments, arguments)

namespace heed::gpu {

inline gpu_simulator::Block& block() { return gpu_simulator::Block::current(); }

HEED_DEVICE unsigned thread_index() { return block().thread(); }
HEED_DEVICE unsigned block_threads() { return block().launch().threads; }
HEED_DEVICE unsigned block_x() { return block().index().x; }
HEED_DEVICE unsigned block_y() { return block().index().y; }
HEED_DEVICE unsigned block_z() { return block().index().z; }

template <typename T>
HEED_DEVICE T* shared_memory() {
  return reinterpret_cast<T*>(block().shared());
}

HEED_DEVICE float float_of_bits(uint32_t bits) { return std::bit_cast<float>(bits); }
HEED_DEVICE uint32_t bits_of_float(float value) { return std::bit_cast<uint32_t>(value); }

HEED_DEVICE float float_of_half(uint16_t bits) {
  return static_cast<float>(std::bit_cast<float16>(bits));
}
HEED_DEVICE uint32_t permute_bytes(uint32_t low, uint32_t high, uint32_t selector) {
  const uint64_t bytes = uint64_t{high} << 32 | low;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i)
    result |= static_cast<uint32_t>(bytes >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
  return result;
}

HEED_DEVICE void load_once_16(const void* global, uint32_t* words) {
  if (reinterpret_cast<uintptr_t>(global) % 16 != 0) block().fail("a load is not aligned");
  std::memcpy(words, global, 16);
}

HEED_DEVICE void synchronize() { block().synchronize(); }

HEED_DEVICE float shuffle_xor(float value, unsigned mask) {
  gpu_simulator::Registers registers{std::bit_cast<uint32_t>(value)};
  block().run_in_warp(gpu_simulator::shuffle_xor, mask, registers);
  return std::bit_cast<float>(registers[0]);
}

HEED_DEVICE uint32_t reduce_max(uint32_t bits) {
  gpu_simulator::Registers registers{bits};
  block().run_in_warp(gpu_simulator::reduce_max, 0, registers);
  return registers[0];
}

inline void load_matrices(gpu_simulator::WarpOperation operation, uint32_t (&registers)[4],
                          const void* row) {
  if (reinterpret_cast<uintptr_t>(row) % 16 != 0) block().fail("ldmatrix: a row is not aligned");
  gpu_simulator::Registers lane{};
  std::memcpy(lane.data(), &row, sizeof(row));
  block().run_in_warp(operation, 0, lane);
  std::copy_n(lane.begin(), 4, registers);
}
HEED_DEVICE void load_matrices_x4(uint32_t (&registers)[4], const void* row) {
  load_matrices(gpu_simulator::load_matrices_x4, registers, row);
}
HEED_DEVICE void load_matrices_x4_transposed(uint32_t (&registers)[4], const void* row) {
  load_matrices(gpu_simulator::load_matrices_x4_transposed, registers, row);
}

HEED_DEVICE void mma_m16n8k16_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  gpu_simulator::Registers lane{a[0], a[1], a[2], a[3], b[0], b[1]};
  std::memcpy(&lane[6], d, sizeof(d));
  block().run_in_warp(gpu_simulator::mma_m16n8k16_bf16, 0, lane);
  std::memcpy(d, lane.data(), sizeof(d));
}

HEED_DEVICE void mma_m16n8k32_s8(int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  gpu_simulator::Registers lane{a[0], a[1], a[2], a[3], b[0], b[1]};
  std::memcpy(&lane[6], d, sizeof(d));
  block().run_in_warp(gpu_simulator::mma_m16n8k32_s8, 0, lane);
  std::memcpy(d, lane.data(), sizeof(d));
}

HEED_DEVICE void mma_m16n8k16_s8(int32_t (&d)[4], const uint32_t (&a)[2], uint32_t b) {
  gpu_simulator::Registers lane{a[0], a[1], 0, 0, b, 0};
  std::memcpy(&lane[6], d, sizeof(d));
  block().run_in_warp(gpu_simulator::mma_m16n8k16_s8, 0, lane);
  std::memcpy(d, lane.data(), sizeof(d));
}

HEED_DEVICE void copy_async_16(void* shared, const void* global) {
  block().copy_later(shared, global, 16);
}
HEED_DEVICE void copy_async_16_if(bool exists, void* shared, const void* global) {
  alignas(16) static constexpr unsigned char kZeros[16] = {};
  copy_async_16(shared, exists ? global : kZeros);
}
HEED_DEVICE void commit_copies() { block().commit_copies(); }
template <unsigned pending>
HEED_DEVICE void wait_for_copies() {
  block().wait_for_copies(pending);
}

HEED_DEVICE uint32_t bf16_pair(float low, float high) {
  const auto rounded = [](float value) -> uint32_t {
    const uint32_t bits = bits_of_float(value);
    return std::isnan(value) ? 0x7fff : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  };
  return rounded(high) << 16 | rounded(low);
}

HEED_DEVICE float fast_exp2(float x) { return std::exp2(x); }

HEED_DEVICE void set_flag(uint32_t* flag) {
  std::atomic_ref(*flag).store(1, std::memory_order_relaxed);
}

}  // namespace heed::gpu
