#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "heed/kernels/backend.h"

namespace heed::kernels {

/// An operation with one implementation per backend. A call goes to backend().
template <typename Signature>
class Kernel;

template <typename Result, typename... Arguments>
class Kernel<Result(Arguments...)> {
 public:
  using Function = Result (*)(Arguments...);

  /// One function per Backend, in the order of its enumerators.
  constexpr Kernel(Function cpu, Function reference) : functions_{cpu, reference} {}

  Result operator()(Arguments... arguments) const {
    return functions_[static_cast<size_t>(backend())](std::forward<Arguments>(arguments)...);
  }

 private:
  std::array<Function, 2> functions_;
};

/// Declares a kernel of this signature, and cpu::name and reference::name, which implement it:
///   HEED_KERNEL(softmax, void(const Tensor& x, Tensor& y));
///   softmax(x, y);
#define HEED_KERNEL(name, ...)            \
  namespace cpu {                         \
  std::type_identity_t<__VA_ARGS__> name; \
  }                                       \
  namespace reference {                   \
  std::type_identity_t<__VA_ARGS__> name; \
  }                                       \
  inline constexpr Kernel<__VA_ARGS__> name { cpu::name, reference::name }

}  // namespace heed::kernels
