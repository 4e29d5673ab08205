#include "heed/checkpoint/stored_parts.h"

#include <cstring>
#include <map>

#include "heed/kernels/as_f32.h"

namespace heed::checkpoint {
namespace {

using model::StoredWeight;

Tensor transposed(const Tensor& matrix) {
  const int64_t rows = matrix.rows(), cols = matrix.cols();
  Tensor result = Tensor::empty({cols, rows});
  const float* from = matrix.data<float>();
  float* to = result.data<float>();
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) to[j * rows + i] = from[i * cols + j];
  return result;
}

/// Copies `rows` rows block by block: out of the tensor that holds them, or back into it.
enum class BlockCopy { gather, scatter };
void copy_blocks(const StoredWeight& stored, const Tensor& from, Tensor& to, BlockCopy direction) {
  const int64_t rows = direction == BlockCopy::gather ? to.rows() : from.rows();
  const auto bytes = static_cast<size_t>(from.row_bytes() * stored.block_rows);
  for (int64_t row = 0, block = stored.first_row; row < rows;
       row += stored.block_rows, block += stored.block_stride) {
    const int64_t source = direction == BlockCopy::gather ? block : row;
    const int64_t target = direction == BlockCopy::gather ? row : block;
    std::memcpy(to.raw() + target * to.row_bytes(), from.raw() + source * from.row_bytes(), bytes);
  }
}

}  // namespace

Tensor part_of(const Tensor& tensor, const StoredWeight& stored, const Shape& shape) {
  Tensor whole = stored.transposed ? transposed(kernels::as_f32(tensor)) : tensor;
  if (shape.rank() == 1) whole = kernels::as_f32(whole).reshaped({whole.elements(), 1});
  const int64_t rows = shape[0];
  if (stored.block_rows != 0) {
    Tensor gathered = Tensor::empty({rows, whole.cols()}, whole.dtype());
    copy_blocks(stored, whole, gathered, BlockCopy::gather);
    return gathered.reshaped(shape);
  }
  if (stored.first_row != 0 || whole.rows() != rows)
    whole = whole.row_slice(stored.first_row, stored.first_row + rows);
  return whole.reshaped(shape);
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
    // Parts are copied to the rows of the untransposed tensor, which is transposed after the last.
    const auto [place, first] = places.try_emplace(stored.name, tensors.size());
    const Shape all = stored.transposed ? Shape{stored.shape[1], stored.shape[0]} : stored.shape;
    if (first) tensors.push_back({stored.name, Tensor::zeros(all)});
    Tensor& target = tensors[place->second].tensor;
    if (stored.block_rows != 0) {
      Tensor rows = target.reshaped({all[0], target.elements() / all[0]});
      copy_blocks(stored, value.reshaped({value.shape()[0], rows.cols()}), rows,
                  BlockCopy::scatter);
      continue;
    }
    const int64_t row = stored.shape.rank() == 1 ? 1 : target.cols();
    std::memcpy(target.data<float>() + stored.first_row * row, value.data<float>(),
                static_cast<size_t>(value.bytes()));
    const int64_t end = stored.first_row + value.shape()[0];
    if (stored.transposed && end == all[0]) target = transposed(target);
  }
  return tensors;
}

}  // namespace heed::checkpoint
