#pragma once

#include <utility>

#include "heed/gpu/gpu.h"
#include "heed/tensor/tensor.h"

// What the host's side of kernels for GPUs is written in.

namespace heed::kernels::gpu {

using heed::gpu::Gpu;
using heed::gpu::LaunchShape;

/// The GPU that this thread works on.
inline Gpu& current_gpu() { return *static_cast<Gpu*>(current_device()); }

/// Starts a kernel of code/*.cu on it.
template <typename Arguments>
void launch(const char* kernel, const LaunchShape& shape, const Arguments& arguments) {
  current_gpu().launch(kernel, shape, arguments);
}

/// The elements of a tensor on this thread's GPU; null for an undefined tensor. Throws Error if it
/// is elsewhere or of another dtype.
template <typename T>
const T* elements(const Tensor& tensor) {
  if (!tensor.defined()) return nullptr;
  tensor.check_dtype(dtype_of<T>);
  return reinterpret_cast<const T*>(tensor.memory_of(current_device()));
}
template <typename T>
T* elements(Tensor& tensor) {
  return const_cast<T*>(elements<T>(std::as_const(tensor)));
}
/// The same for any dtype.
inline std::byte* memory(const Tensor& tensor) {
  return tensor.defined() ? tensor.memory_of(current_device()) : nullptr;
}

/// A copy of the host's values on this thread's GPU, for one call: a kernel that was started before
/// the copy is freed has read it.
template <typename T>
class Uploaded {
 public:
  explicit Uploaded(std::span<const T> values)
      : memory_(current_gpu().allocate(values.size_bytes())) {
    if (!values.empty()) current_gpu().copy_to_device(memory_.get(), std::as_bytes(values));
  }
  const T* data() const { return reinterpret_cast<const T*>(memory_.get()); }

 private:
  std::shared_ptr<std::byte> memory_;
};

/// Blocks that cover `count` things, `each` at a time.
inline unsigned blocks_for(int64_t count, int64_t each) {
  return static_cast<unsigned>((count + each - 1) / each);
}

}  // namespace heed::kernels::gpu
