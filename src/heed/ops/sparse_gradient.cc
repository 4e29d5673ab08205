#include "heed/ops/sparse_gradient.h"

#include <algorithm>

#include "heed/kernels/embedding.h"

namespace heed {
namespace {

/// The position of each of `rows` in ascending `numbers`, which hold them all.
std::vector<int32_t> positions_in(const std::vector<int32_t>& numbers,
                                  std::span<const int32_t> rows) {
  std::vector<int32_t> positions;
  positions.reserve(rows.size());
  for (const int32_t row : rows)
    positions.push_back(
        static_cast<int32_t>(std::ranges::lower_bound(numbers, row) - numbers.begin()));
  return positions;
}

}  // namespace

/// Adds zeros for the rows that are not there yet.
void SparseGradient::make_room(std::span<const int32_t> rows, int64_t cols) {
  std::vector<int32_t> wanted(rows.begin(), rows.end()), all;
  std::ranges::sort(wanted);
  wanted.erase(std::ranges::unique(wanted).begin(), wanted.end());
  std::ranges::set_union(rows_, wanted, std::back_inserter(all));
  if (all.size() == rows_.size()) return;
  Tensor values = Tensor::zeros({std::ssize(all), cols});
  if (values_.defined())
    kernels::embedding_backward(positions_in(all, rows_), values_, 1.0f, values);
  rows_ = std::move(all);
  values_ = std::move(values);
}

void SparseGradient::add(std::span<const int32_t> rows, const Tensor& dy, float scale) {
  if (rows.empty()) return;
  make_room(rows, dy.cols());
  kernels::embedding_backward(positions_in(rows_, rows), dy, scale, values_);
}

SparseGradient SparseGradient::between(int64_t first, int64_t last) const {
  const auto begin = std::ranges::lower_bound(rows_, first);
  const auto end = std::ranges::lower_bound(rows_, last);
  if (begin >= end) return {};
  return {{begin, end}, values_.row_slice(begin - rows_.begin(), end - rows_.begin())};
}

}  // namespace heed
