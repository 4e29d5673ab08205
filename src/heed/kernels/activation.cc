#include "heed/kernels/activation.h"

namespace heed::kernels {

std::string_view name_of(Activation f) {
  switch (f) {
    case Activation::relu:
      return "relu";
    case Activation::gelu:
      return "gelu";
    case Activation::gelu_tanh:
      return "gelu_new";
    case Activation::silu:
      return "silu";
    case Activation::tanh:
      return "tanh";
    case Activation::clamped_swiglu:
      return "clamped_swiglu";
  }
  return "?";
}

}  // namespace heed::kernels
