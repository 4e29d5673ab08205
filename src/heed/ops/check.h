#pragma once

#include <string_view>

#include "heed/base/error.h"
#include "heed/tensor/tensor.h"

namespace heed::ops {

/// Throws "op: name is [a, b], expected [c, d]".
inline void check_shape(std::string_view op, std::string_view name, const Tensor& tensor,
                        const Shape& expected) {
  require(tensor.defined(), "{}: {} is missing", op, name);
  if (tensor.shape() != expected)
    fail("{}: {} is {}, expected {}", op, name, tensor.shape().text(), expected.text());
}

/// Throws "op: name has width a, expected b".
inline void check_width(std::string_view op, std::string_view name, const Tensor& tensor,
                        int64_t expected) {
  require(tensor.defined(), "{}: {} is missing", op, name);
  if (tensor.cols() != expected)
    fail("{}: {} is {}, its width should be {}", op, name, tensor.shape().text(), expected);
}

}  // namespace heed::ops
