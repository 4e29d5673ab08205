#include "heed/tensor/dtype.h"

namespace heed {

std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::bf16:
      return "bf16";
    case DType::f16:
      return "f16";
    case DType::i32:
      return "i32";
    case DType::q4_0:
      return "q4_0";
    case DType::q4_1:
      return "q4_1";
    case DType::q8_0:
      return "q8_0";
    case DType::q6_K:
      return "q6_K";
  }
  return "?";
}

}  // namespace heed
