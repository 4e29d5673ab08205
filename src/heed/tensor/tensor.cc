#include "heed/tensor/tensor.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "heed/base/error.h"
#include "heed/tensor/allocator.h"

namespace heed {
namespace {

std::atomic<uint64_t> next_id{1};

template <typename T>
Tensor tensor_of(const Shape& shape, std::span<const T> values) {
  require(static_cast<int64_t>(values.size()) == shape.elements(), "{} values for a tensor {}",
          values.size(), shape.text());
  const Tensor given = Tensor::view(
      shape, dtype_of<T>,
      {std::shared_ptr<void>(), reinterpret_cast<std::byte*>(const_cast<T*>(values.data()))});
  return given.clone();
}

void check_blocks(const Shape& shape, DType dtype) {
  if (is_plain(dtype)) return;
  const int64_t cols = shape.rank() ? shape[-1] : 1;
  if (cols % block_elements(dtype) != 0)
    fail("a tensor {} cannot be stored as {}, whose blocks are {} elements of a row", shape.text(),
         name_of(dtype), block_elements(dtype));
}

}  // namespace

Tensor Tensor::empty(const Shape& shape, DType dtype) {
  const auto bytes = static_cast<size_t>(bytes_of(dtype, shape.elements()));
  Device* const device = current_device();
  return view(shape, dtype, device ? device->allocate(bytes) : allocate(bytes), device);
}

Tensor Tensor::zeros(const Shape& shape, DType dtype) {
  Tensor tensor = empty(shape, dtype);
  tensor.fill_zero();
  return tensor;
}

Tensor Tensor::full(const Shape& shape, float value) {
  Device* const device = current_device();
  const DeviceScope host(nullptr);
  Tensor tensor = empty(shape);
  std::fill_n(tensor.data<float>(), tensor.elements(), value);
  return tensor.to(device);
}

Tensor Tensor::of(const Shape& shape, std::span<const float> values) {
  return tensor_of(shape, values);
}

Tensor Tensor::of(const Shape& shape, std::span<const int32_t> values) {
  return tensor_of(shape, values);
}

Tensor Tensor::view(const Shape& shape, DType dtype, std::shared_ptr<std::byte> owner,
                    Device* device) {
  check_blocks(shape, dtype);
  Tensor tensor;
  tensor.storage_ = std::move(owner);
  tensor.shape_ = shape;
  tensor.elements_ = shape.elements();
  tensor.id_ = next_id.fetch_add(1, std::memory_order_relaxed);
  tensor.device_ = device;
  tensor.dtype_ = dtype;
  return tensor;
}

int64_t Tensor::rows() const {
  int64_t product = 1;
  for (int axis = 0; axis + 1 < shape_.rank(); ++axis) product *= shape_[axis];
  return product;
}

Tensor Tensor::reshaped(const Shape& shape) const {
  if (shape.elements() != elements_)
    fail("a tensor {} cannot be reshaped to {}", shape_.text(), shape.text());
  check_blocks(shape, dtype_);
  Tensor other = *this;
  other.shape_ = shape;
  return other;
}

Tensor Tensor::row_slice(int64_t begin, int64_t end) const {
  if (begin < 0 || end < begin || rows() < end)
    fail("rows {} to {} are outside the tensor {}", begin, end, shape_.text());
  const int64_t offset = begin * row_bytes();
  return view({end - begin, cols()}, dtype_, {storage_, storage_.get() + offset}, device_);
}

Tensor Tensor::clone() const {
  if (!defined()) return {};
  Tensor copy = empty(shape_, dtype_);
  copy.assign(*this);
  return copy;
}

void Tensor::assign(const Tensor& from) {
  require(dtype_ == from.dtype_ && elements_ == from.elements_,
          "a tensor {} of {} cannot hold one {} of {}", shape_.text(), name_of(dtype_),
          from.shape_.text(), name_of(from.dtype_));
  const auto size = static_cast<size_t>(bytes());
  if (size == 0) return;
  std::byte* const target = storage_.get();
  const std::byte* const source = from.storage_.get();
  if (!device_ && !from.device_)
    std::memcpy(target, source, size);
  else if (!from.device_)
    device_->copy_to_device(target, {source, size});
  else if (!device_)
    from.device_->copy_to_host({target, size}, source);
  else if (device_ == from.device_)
    device_->copy(target, source, size);
  else
    assign(from.to(nullptr));
}

Tensor Tensor::to(Device* device) const {
  if (device_ == device || !defined()) return *this;
  if (!device) {
    const auto size = static_cast<size_t>(bytes());
    Tensor copy = view(shape_, dtype_, device_->allocate_on_host(size));
    copy.assign(*this);
    return copy;
  }
  const DeviceScope scope(device);
  return clone();
}

void Tensor::fill_zero() {
  if (elements_ == 0) return;
  if (device_)
    device_->fill(storage_.get(), 0, static_cast<size_t>(bytes()));
  else
    std::memset(raw(), 0, static_cast<size_t>(bytes()));
}

void Tensor::fail_dtype(DType expected) const {
  fail("a tensor {} of {} was read as {}", shape_.text(), name_of(dtype_), name_of(expected));
}

void Tensor::fail_elsewhere(const Device* wanted) const {
  const auto place = [](const Device* device) -> std::string {
    return device ? device->name() : "the host";
  };
  fail("a tensor {} in the memory of {} was read by {}", shape_.text(), place(device_),
       place(wanted));
}

}  // namespace heed
