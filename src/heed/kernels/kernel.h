#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "heed/kernels/backend.h"

namespace heed::kernels {

/// An operation with one implementation per backend. A call goes to backend():
///
///   inline constexpr Kernel<void(const Tensor& x, Tensor& y)> softmax{cpu::softmax,
///                                                                     reference::softmax};
///   softmax(x, y);
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

}  // namespace heed::kernels
