#include "heed/io/stored_elements.h"

#include <cstring>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/mapped_pages.h"

namespace heed::io {
namespace {

/// Sizes and strides with leading axes of size 1.
struct FourAxes {
  std::array<int64_t, Shape::kMaxRank> sizes{1, 1, 1, 1}, strides{};

  explicit FourAxes(const StoredElements& stored) {
    const int rank = stored.shape.rank();
    int64_t stride = 1;
    for (int axis = rank; axis-- > 0;) {
      const auto place = static_cast<size_t>(Shape::kMaxRank - rank + axis);
      sizes[place] = stored.shape[axis];
      strides[place] = stored.strides ? (*stored.strides)[static_cast<size_t>(axis)] : stride;
      stride *= stored.shape[axis];
    }
  }
};

template <typename From, typename To, typename Convert>
Tensor converted(const std::byte* from, const StoredElements& stored, Convert&& convert) {
  Tensor tensor = Tensor::empty(stored.shape, dtype_of<To>);
  To* to = tensor.data<To>();
  const auto& [sizes, strides] = FourAxes(stored);
  for (int64_t a = 0; a < sizes[0]; ++a)
    for (int64_t b = 0; b < sizes[1]; ++b)
      for (int64_t c = 0; c < sizes[2]; ++c) {
        const int64_t row = a * strides[0] + b * strides[1] + c * strides[2];
        for (int64_t d = 0; d < sizes[3]; ++d) {
          const auto at = static_cast<size_t>(row + d * strides[3]);
          From value;  // the data of a file may be unaligned
          std::memcpy(&value, from + at * sizeof(From), sizeof(From));
          *to++ = convert(value);
        }
      }
  return tensor;
}

/// A view of a tensor of two or more axes whose elements lie together and aligned; a copy of any
/// other one. The pages of the file that a copy was made of are released.
template <typename T>
Tensor view_or_copy(const std::shared_ptr<MappedFile>& file, const StoredElements& stored) {
  const std::shared_ptr<std::byte> owner(file, file->bytes().data() + stored.begin);
  const bool aligned = reinterpret_cast<uintptr_t>(owner.get()) % alignof(T) == 0;
  if (stored.strides) return converted<T, T>(owner.get(), stored, [](T value) { return value; });
  if (aligned && stored.shape.rank() >= 2) return Tensor::view(stored.shape, dtype_of<T>, owner);
  Tensor copy = Tensor::empty(stored.shape, dtype_of<T>);
  const auto bytes = static_cast<size_t>(copy.bytes());
  if (bytes > 0) std::memcpy(copy.raw(), owner.get(), bytes);
  release_pages(file->bytes(), stored.begin, stored.begin + bytes);
  return copy;
}

}  // namespace

Tensor tensor_of(const std::shared_ptr<MappedFile>& file, const StoredElements& stored,
                 const std::string& where, std::string_view dtype_name) {
  if (stored.dtype == "F32") return view_or_copy<float>(file, stored);
  if (stored.dtype == "BF16") return view_or_copy<bfloat16>(file, stored);
  if (stored.dtype == "F16") return view_or_copy<float16>(file, stored);
  if (stored.dtype == "I32") return view_or_copy<int32_t>(file, stored);
  const std::byte* data = file->bytes().data() + stored.begin;
  if (stored.dtype == "F64")
    return converted<double, float>(data, stored,
                                    [](double value) { return static_cast<float>(value); });
  require(stored.dtype == "I64",
          "{} is {}, which heed does not support (supported: F32, BF16, F16, F64, I32, I64)", where,
          dtype_name);
  return converted<int64_t, int32_t>(data, stored, [&](int64_t value) {
    require(std::in_range<int32_t>(value), "{} holds {}, which does not fit into 32 bits", where,
            value);
    return static_cast<int32_t>(value);
  });
}

std::optional<DType> dtype_of_stored(std::string_view dtype) {
  if (dtype == "F32" || dtype == "F64") return DType::f32;
  if (dtype == "BF16") return DType::bf16;
  if (dtype == "F16") return DType::f16;
  if (dtype == "I32" || dtype == "I64") return DType::i32;
  return std::nullopt;
}

}  // namespace heed::io
