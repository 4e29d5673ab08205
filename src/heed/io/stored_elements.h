#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "heed/base/file.h"
#include "heed/tensor/tensor.h"

namespace heed::io {

/// A tensor's elements as they lie in a mapped file.
struct StoredElements {
  using Strides = std::array<int64_t, Shape::kMaxRank>;

  std::string dtype;  // as safetensors files name it: "F32", "BF16", ...
  Shape shape;
  size_t begin = 0;  // the first byte of the file
  /// From an element to the next along each axis, in elements; absent where they lie together.
  std::optional<Strides> strides = {};
};

/// F32, BF16, F16 and I32 in their dtype: a view that keeps the file mapped, where there are two
/// axes or more and the elements lie together and aligned; otherwise a copy. F64 is converted to
/// f32, and I64 to i32. Throws Error for other dtypes and for an integer that does not fit; `where`
/// is what it says first, `dtype_name` what the file calls the dtype.
Tensor tensor_of(const std::shared_ptr<MappedFile>& file, const StoredElements& stored,
                 const std::string& where, std::string_view dtype_name);
/// The dtype of tensor_of(); nullopt for one that it refuses.
std::optional<DType> dtype_of_stored(std::string_view dtype);

}  // namespace heed::io
