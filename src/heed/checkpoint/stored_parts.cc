#include "heed/checkpoint/stored_parts.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "heed/kernels/as_f32.h"

namespace heed::checkpoint {
namespace {

using model::StoredWeight;

/// The row of the stored tensor that is row r of a parameter.
int64_t stored_row(const StoredWeight& stored, int64_t r) {
  if (stored.block_rows == 0) return stored.first_row + r;
  return stored.first_row + r / stored.block_rows * stored.block_stride + r % stored.block_rows;
}

/// Calls copy(r, first, stride) for the `rows` rows of a parameter: elements first, first + stride,
/// ... of a tensor whose last two axes are [in, out], where the transposed rows are columns.
template <typename Copy>
void for_columns(const StoredWeight& stored, int64_t rows, const Copy& copy) {
  const int64_t in = stored.shape[-2] / stored.matrices, out = stored.shape[-1];
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t row = stored_row(stored, r);
    copy(r, row / out * in * out + row % out, out);
  }
}

template <typename T>
void gather_columns(const Tensor& tensor, const StoredWeight& stored, Tensor& to) {
  const auto* const from = reinterpret_cast<const T*>(tensor.raw());
  auto* const target = reinterpret_cast<T*>(to.raw());
  for_columns(stored, to.rows(), [&](int64_t r, int64_t first, int64_t stride) {
    for (int64_t c = 0; c < to.cols(); ++c) target[r * to.cols() + c] = from[first + c * stride];
  });
}

Tensor transposed_part(const Tensor& tensor, const StoredWeight& stored, const Shape& shape) {
  if (!is_plain(tensor.dtype())) return transposed_part(kernels::as_f32(tensor), stored, shape);
  Tensor part = Tensor::empty(shape, tensor.dtype());
  if (bytes_of(tensor.dtype(), 1) == 2)
    gather_columns<uint16_t>(tensor, stored, part);
  else
    gather_columns<uint32_t>(tensor, stored, part);
  return part;
}

/// Copies a part to its place in `whole` [stored.shape], which has its dtype.
void put_part(const Tensor& value, const StoredWeight& stored, Tensor& whole) {
  const int64_t rows = value.shape()[0], row_bytes = value.bytes() / rows;
  if (stored.transposed) {
    const float* from = value.data<float>();
    float* const to = whole.data<float>();
    for_columns(stored, rows, [&](int64_t, int64_t first, int64_t stride) {
      for (int64_t c = 0; c < value.cols(); ++c) to[first + c * stride] = *from++;
    });
    return;
  }
  for (int64_t r = 0; r < rows; ++r)
    std::memcpy(whole.raw() + stored_row(stored, r) * row_bytes, value.raw() + r * row_bytes,
                static_cast<size_t>(row_bytes));
}

}  // namespace

bool is_view_of(const StoredWeight& stored) { return !stored.transposed && stored.block_rows == 0; }

Tensor part_of(const Tensor& tensor, const StoredWeight& stored, const Shape& shape) {
  if (stored.transposed) return transposed_part(tensor, stored, shape);
  Tensor whole = tensor;
  if (shape.rank() == 1) whole = kernels::as_f32(whole).reshaped({whole.elements(), 1});
  const int64_t rows = shape[0];
  if (is_view_of(stored)) {
    if (whole.rows() != rows) whole = whole.row_slice(stored.first_row, stored.first_row + rows);
    return whole.reshaped(shape);
  }
  Tensor part = Tensor::empty({rows, whole.cols()}, whole.dtype());
  for (int64_t r = 0; r < rows; ++r)
    std::memcpy(part.raw() + r * part.row_bytes(),
                whole.raw() + stored_row(stored, r) * whole.row_bytes(),
                static_cast<size_t>(part.row_bytes()));
  return part.reshaped(shape);
}

std::vector<io::NamedTensor> joined(std::span<const StoredPart> parts) {
  std::vector<io::NamedTensor> tensors;
  std::map<std::string, size_t> places;
  for (const auto& [stored, value] : parts) {
    const bool whole = !stored.transposed && stored.shape.elements() == value.elements();
    if (whole) {
      tensors.push_back({stored.name, value.reshaped(stored.shape)});
      continue;
    }
    const auto [place, first] = places.try_emplace(stored.name, tensors.size());
    if (first) tensors.push_back({stored.name, Tensor::zeros(stored.shape, value.dtype())});
    put_part(value, stored, tensors[place->second].tensor);
  }
  return tensors;
}

}  // namespace heed::checkpoint
