#pragma once

#include "heed/kernels/backend.h"
#include "heed/tensor/dtype.h"

// For tests and benchmarks only. These change which implementation the whole process uses, and must
// not be called while kernels run.

namespace heed::kernels {

void set_backend(Backend backend);

namespace cpu {

struct MicroKernel;
struct BlockKernel;
struct Int8Kernel;

/// Makes products of `dtype` use that micro-kernel; null: the fastest again.
void force_kernel(DType dtype, const MicroKernel* kernel);
/// Makes matmul_blocks use only that kernel; null: the fastest again.
void force_block_kernel(const BlockKernel* kernel);
/// Makes matmul_int8 use only that kernel; null: the fastest again.
void force_int8_kernel(const Int8Kernel* kernel);

}  // namespace cpu
}  // namespace heed::kernels
