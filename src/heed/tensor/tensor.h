#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/tensor/dtype.h"
#include "heed/tensor/shape.h"

namespace heed {

/// A contiguous, row-major array. Copies share the elements (a handle, like a pointer); `clone`
/// copies them. A matrix view of any tensor is [rows(), cols()]: the last axis, and all before it.
/// Of a dtype with blocks, the last axis is a number of whole blocks; what makes a tensor throws
/// Error otherwise.
class Tensor {
 public:
  /// No storage: what an op takes for "absent" (a bias that is not there).
  Tensor() = default;

  /// Elements undefined.
  static Tensor empty(const Shape& shape, DType dtype = DType::f32);
  static Tensor zeros(const Shape& shape, DType dtype = DType::f32);
  static Tensor full(const Shape& shape, float value);
  /// An f32 or i32 tensor with the given elements; throws Error when their number does not fit.
  static Tensor of(const Shape& shape, std::span<const float> values);
  static Tensor of(const Shape& shape, std::span<const int32_t> values);
  /// Elements that live elsewhere (a mapped file), kept alive by `owner`.
  static Tensor view(const Shape& shape, DType dtype, std::shared_ptr<std::byte> owner);

  bool defined() const { return storage_ != nullptr; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  int64_t elements() const { return elements_; }
  /// All of them, and those of a row of the matrix view.
  int64_t bytes() const { return bytes_of(dtype_, elements_); }
  int64_t row_bytes() const { return bytes_of(dtype_, cols()); }
  int64_t cols() const { return shape_.rank() ? shape_[-1] : 1; }
  int64_t rows() const;

  /// The elements, or the blocks; throws Error when T is not the dtype.
  template <typename T>
  const T* data() const {
    check_dtype(dtype_of<T>);
    return reinterpret_cast<const T*>(storage_.get());
  }
  template <typename T>
  T* data() {
    check_dtype(dtype_of<T>);
    return reinterpret_cast<T*>(storage_.get());
  }
  template <typename T>
  std::span<const T> values() const {
    return {data<T>(), static_cast<size_t>(elements_ / block_elements(dtype_))};
  }
  const std::byte* raw() const { return storage_.get(); }
  std::byte* raw() { return storage_.get(); }

  /// The same elements under another shape; throws Error when their number differs, or when it cuts
  /// blocks.
  Tensor reshaped(const Shape& shape) const;
  /// Rows [begin, end) of the matrix view as a [end - begin, cols()] view that shares the elements.
  Tensor row_slice(int64_t begin, int64_t end) const;
  Tensor clone() const;
  void fill_zero();

  /// A number that names this tensor among all of the process: copies and reshaped handles share
  /// it.
  uint64_t id() const { return id_; }

 private:
  void check_dtype(DType expected) const;

  std::shared_ptr<std::byte> storage_;
  Shape shape_;
  int64_t elements_ = 0;
  uint64_t id_ = 0;
  DType dtype_ = DType::f32;
};

}  // namespace heed
