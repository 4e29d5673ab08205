#pragma once

// What kernels are written in. The same source is compiled by nvcc, where each function is an
// instruction or two, and by the compiler of the host for the simulator (src/gpu_simulator/):
//
//   HEED_GPU_KERNEL(name, Arguments, arguments) { ... }   a kernel; Arguments is a plain struct
//   HEED_GPU_KERNEL_OF(threads, blocks, name, ...)        one of at most that many threads, which
//                                                         uses the registers of a multiprocessor
//                                                         with that many blocks
//   thread_index() block_threads() block_x() block_y() block_z()
//   HEED_UNROLL                                           before a loop: for arrays in registers
//   shared_memory<T>()                                    what the launch asked for, by 128 bytes
//   float_of_bits(bits), bits_of_float(value), float_of_half(bits)
//   permute_bytes(low, high, selector)                    prmt: bytes of both words
//   load_once_16(global, words)                           past the first cache
//   synchronize()                                         a barrier of the block
//   shuffle_xor(value, mask)                              the value of lane ^ mask of the warp
//   reduce_max(bits)                                      the largest of the warp (redux.max.u32)
//   load_matrices_x4(registers, row)                      ldmatrix.x4
//   load_matrices_x4_transposed(registers, row)           ldmatrix.x4.trans
//   mma_m16n8k16_bf16(d, a, b), mma_m16n8k32_s8(d, a, b)  d += a b on tensor cores
//   mma_m16n8k16_s8(d, a, b)
//   copy_async_16(shared, global), commit_copies(), wait_for_copies<pending>()
//   copy_async_16_if(exists, shared, global)              zeros if the source does not exist
//   bf16_pair(low, high)                                  rounded to bf16, in one register
//   fast_exp2(x)                                          ex2.approx
//   set_flag(flag)                                        *flag = 1, in memory of the host, too
#ifdef __CUDACC__
#include "heed/gpu/code/cuda_operations.h"
#else
#include "gpu_simulator/operations.h"
#endif
