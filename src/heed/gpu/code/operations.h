#pragma once

// What kernels are written in. The same source is compiled by nvcc, where each function is an
// instruction or two, and by the compiler of the host for the simulator (src/gpu_simulator/):
//
//   HEED_GPU_KERNEL(name, Arguments, arguments) { ... }   a kernel; Arguments is a plain struct
//   thread_index() block_threads() block_x() block_y() block_z()
//   shared_memory<T>()                                    what the launch asked for, by 128 bytes
//   float_of_bits(bits), bits_of_float(value)
//   synchronize()                                         a barrier of the block
//   shuffle_xor(value, mask)                              the value of lane ^ mask of the warp
//   load_matrices_x4(registers, row)                      ldmatrix.x4
//   mma_m16n8k16_bf16(d, a, b), mma_m16n8k32_s8(d, a, b)  d += a b on tensor cores
//   copy_async_16(shared, global), commit_copies(), wait_for_copies<pending>()
//   fast_exp2(x)                                          ex2.approx
#ifdef __CUDACC__
#include "heed/gpu/code/cuda_operations.h"
#else
#include "gpu_simulator/operations.h"
#endif
