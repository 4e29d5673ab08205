#pragma once

#include "heed/kernels/backend.h"
#include "heed/tensor/dtype.h"

// For tests and benchmarks only.

namespace heed::kernels {

/// Kernels that this thread runs on the host are of that backend, cpu or reference, while this
/// lives.
class HostBackendScope {
 public:
  explicit HostBackendScope(Backend backend);
  ~HostBackendScope();
  HostBackendScope(const HostBackendScope&) = delete;
  HostBackendScope& operator=(const HostBackendScope&) = delete;

 private:
  Backend before_;
};

// These change which implementation the whole process uses, and must not be called while kernels
// run.
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
