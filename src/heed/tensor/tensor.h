#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/tensor/device.h"
#include "heed/tensor/dtype.h"
#include "heed/tensor/shape.h"

namespace heed {

/// A contiguous, row-major array in the memory of the host or of one device. A Tensor is a handle:
/// copies share the elements, `clone` copies them. Those that make elements make them where the
/// thread works (DeviceScope); the others keep the place. The matrix view of a tensor is [rows(),
/// cols()]: cols() is the last axis, rows() the product of the others. The last axis of a block
/// dtype is a whole number of blocks; all functions that make a tensor throw Error otherwise.
class Tensor {
 public:
  /// An undefined tensor; ops take it as absent (no bias).
  Tensor() = default;

  /// The elements are uninitialised.
  static Tensor empty(const Shape& shape, DType dtype = DType::f32);
  static Tensor zeros(const Shape& shape, DType dtype = DType::f32);
  static Tensor full(const Shape& shape, float value);
  /// An f32 or i32 tensor with the given elements. Throws Error if their number does not fit.
  static Tensor of(const Shape& shape, std::span<const float> values);
  static Tensor of(const Shape& shape, std::span<const int32_t> values);
  /// Elements in other memory (a mapped file), which `owner` keeps alive; `device`: whose memory.
  static Tensor view(const Shape& shape, DType dtype, std::shared_ptr<std::byte> owner,
                     Device* device = nullptr);

  bool defined() const { return storage_ != nullptr; }
  /// Whether nothing else holds the elements.
  bool is_sole_owner() const { return storage_.use_count() == 1; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  /// Whose memory the elements are in; null: the host's.
  Device* device() const { return device_; }
  int64_t elements() const { return elements_; }
  /// Bytes of all elements, and of a row of the matrix view.
  int64_t bytes() const { return bytes_of(dtype_, elements_); }
  int64_t row_bytes() const { return bytes_of(dtype_, cols()); }
  int64_t cols() const { return shape_.rank() ? shape_[-1] : 1; }
  int64_t rows() const;

  /// The elements, or the blocks, in the memory of the host. Throws Error if T is not the dtype, or
  /// if they are on a device.
  template <typename T>
  const T* data() const {
    check_dtype(dtype_of<T>);
    return reinterpret_cast<const T*>(raw());
  }
  template <typename T>
  T* data() {
    check_dtype(dtype_of<T>);
    return reinterpret_cast<T*>(raw());
  }
  template <typename T>
  std::span<const T> values() const {
    return {data<T>(), static_cast<size_t>(elements_ / block_elements(dtype_))};
  }
  const std::byte* raw() const { return memory_of(nullptr); }
  std::byte* raw() { return memory_of(nullptr); }
  /// Throws Error if it is not the dtype.
  void check_dtype(DType expected) const {
    if (dtype_ != expected) fail_dtype(expected);
  }
  /// The elements as kernels of `device` read and write them. Throws Error if they are elsewhere.
  std::byte* memory_of(const Device* device) const {
    if (device_ != device) fail_elsewhere(device);
    return storage_.get();
  }

  /// The same elements in another shape. Throws Error if their number differs or a block would be
  /// divided.
  Tensor reshaped(const Shape& shape) const;
  /// Rows [begin, end) of the matrix view, [end - begin, cols()]; shares the elements.
  Tensor row_slice(int64_t begin, int64_t end) const;
  Tensor clone() const;
  /// The tensor itself if it is on `device` (null: the host), else a copy there.
  Tensor to(Device* device) const;
  void fill_zero();
  /// Copies the elements of a tensor of this dtype and size, from wherever they are. Throws Error
  /// if it is another.
  void assign(const Tensor& from);

  /// Identifies this tensor in the process. Copies and reshaped handles share it.
  uint64_t id() const { return id_; }

 private:
  [[noreturn]] void fail_dtype(DType expected) const;
  [[noreturn]] void fail_elsewhere(const Device* wanted) const;

  std::shared_ptr<std::byte> storage_;
  Shape shape_;
  int64_t elements_ = 0;
  uint64_t id_ = 0;
  Device* device_ = nullptr;
  DType dtype_ = DType::f32;
};

}  // namespace heed
