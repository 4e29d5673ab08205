#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "heed/base/error.h"
#include "heed/kernels/backend.h"

namespace heed::kernels {

/// An operation with one implementation per backend. A call goes to backend(). Throws Error on a
/// GPU if the operation has none there.
template <typename Signature>
class Kernel;

template <typename Result, typename... Arguments>
class Kernel<Result(Arguments...)> {
 public:
  using Function = Result (*)(Arguments...);

  /// One function per Backend, in the order of its enumerators; `gpu` may be null.
  constexpr Kernel(const char* name, Function cpu, Function reference, Function gpu)
      : name_(name), functions_{cpu, reference, gpu} {}

  Result operator()(Arguments... arguments) const {
    const Function function = functions_[static_cast<size_t>(backend())];
    if (!function) fail("{} does not run on a GPU", name_);
    return function(std::forward<Arguments>(arguments)...);
  }

 private:
  const char* name_;
  std::array<Function, 3> functions_;
};

/// Declares a kernel of this signature, and cpu::name, reference::name and gpu::name, which
/// implement it:
///   HEED_KERNEL(softmax, void(const Tensor& x, Tensor& y));
///   softmax(x, y);
#define HEED_KERNEL(name, ...)            \
  HEED_KERNEL_BACKENDS(name, __VA_ARGS__) \
  namespace gpu {                         \
  std::type_identity_t<__VA_ARGS__> name; \
  }                                       \
  inline constexpr Kernel<__VA_ARGS__> name { #name, cpu::name, reference::name, gpu::name }

/// Likewise for a kernel that runs on the host alone.
#define HEED_HOST_KERNEL(name, ...)       \
  HEED_KERNEL_BACKENDS(name, __VA_ARGS__) \
  inline constexpr Kernel<__VA_ARGS__> name { #name, cpu::name, reference::name, nullptr }

#define HEED_KERNEL_BACKENDS(name, ...)   \
  namespace cpu {                         \
  std::type_identity_t<__VA_ARGS__> name; \
  }                                       \
  namespace reference {                   \
  std::type_identity_t<__VA_ARGS__> name; \
  }

}  // namespace heed::kernels
