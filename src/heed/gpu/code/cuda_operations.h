#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// What kernels are written in, as instructions of NVIDIA's GPUs from compute capability 8.0 (PTX
// ISA 9.0): see operations.h, which lists it.

#define HEED_DEVICE __device__ __forceinline__
#define HEED_UNROLL _Pragma("unroll")

#define HEED_GPU_KERNEL(name, Arguments, arguments) \
  extern "C" __global__ void name(const __grid_constant__ Arguments arguments)
#define HEED_GPU_KERNEL_OF(threads, blocks, name, Arguments, arguments) \
  extern "C" __global__ void __launch_bounds__(threads, blocks)         \
      name(const __grid_constant__ Arguments arguments)

namespace heed::gpu {

HEED_DEVICE unsigned thread_index() { return threadIdx.x; }
HEED_DEVICE unsigned block_threads() { return blockDim.x; }
HEED_DEVICE unsigned block_x() { return blockIdx.x; }
HEED_DEVICE unsigned block_y() { return blockIdx.y; }
HEED_DEVICE unsigned block_z() { return blockIdx.z; }

template <typename T>
HEED_DEVICE T* shared_memory() {
  extern __shared__ __align__(128) unsigned char bytes[];
  return reinterpret_cast<T*>(bytes);
}

HEED_DEVICE float float_of_bits(uint32_t bits) { return __uint_as_float(bits); }
HEED_DEVICE uint32_t bits_of_float(float value) { return __float_as_uint(value); }

HEED_DEVICE float float_of_half(uint16_t bits) {
  float value;
  asm("cvt.f32.f16 %0,%1;" : "=f"(value) : "h"(bits));
  return value;
}
/// Byte i of the result is the byte of high:low that the low three bits of selector's nibble i
/// name.
HEED_DEVICE uint32_t permute_bytes(uint32_t low, uint32_t high, uint32_t selector) {
  return __byte_perm(low, high, selector);
}

/// 16 aligned bytes of memory that no kernel writes meanwhile.
HEED_DEVICE void load_once_16(const void* global, uint32_t* words) {
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3},[%4];"
      : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
      : "l"(global));
}

HEED_DEVICE void synchronize() { __syncthreads(); }

HEED_DEVICE float shuffle_xor(float value, unsigned mask) {
  return __shfl_xor_sync(~0u, value, static_cast<int>(mask));
}

HEED_DEVICE uint32_t reduce_max(uint32_t bits) { return __reduce_max_sync(~0u, bits); }

HEED_DEVICE void load_matrices_x4(uint32_t (&registers)[4], const void* row) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(address));
}

HEED_DEVICE void load_matrices_x4_transposed(uint32_t (&registers)[4], const void* row) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(address));
}

HEED_DEVICE void mma_m16n8k16_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

HEED_DEVICE void mma_m16n8k32_s8(int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

HEED_DEVICE void mma_m16n8k16_s8(int32_t (&d)[4], const uint32_t (&a)[2], uint32_t b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b));
}

HEED_DEVICE void copy_async_16(void* shared, const void* global) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(address), "l"(global));
}
HEED_DEVICE void copy_async_16_if(bool exists, void* shared, const void* global) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"(address), "l"(global),
               "r"(exists ? 16 : 0));
}
HEED_DEVICE void commit_copies() { asm volatile("cp.async.commit_group;"); }
template <unsigned pending>
HEED_DEVICE void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending));
}

HEED_DEVICE uint32_t bf16_pair(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0,%1,%2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

HEED_DEVICE float fast_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0,%1;" : "=f"(y) : "f"(x));
  return y;
}

HEED_DEVICE void set_flag(uint32_t* flag) { *static_cast<volatile uint32_t*>(flag) = 1; }

}  // namespace heed::gpu
