#include "heed/nn/positions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heed::nn {

Tensor Sinusoids::rows(int64_t count) const {
  constexpr int64_t kMinRows = 256;
  const MutexLock lock(mutex_);
  const int64_t present = table_.defined() ? table_.rows() : 0;
  if (count > present || present == 0)
    grow(std::min(std::max({count, 2 * present, kMinRows}), settings_.max_positions));
  Device* const device = current_device();
  if (!device) return table_;
  if (device_table_.device() != device || device_table_.rows() != table_.rows())
    device_table_ = table_.to(device);
  return device_table_;
}

void Sinusoids::grow(int64_t rows) const {
  const int64_t width = settings_.d_model, sines = (width + 1) / 2;
  const int64_t present = table_.defined() ? table_.rows() : 0;
  if (rows == present) return;
  const double divisor =
      settings_.fairseq ? static_cast<double>(sines - 1) : static_cast<double>(width) / 2.0;
  std::vector<double> wavelengths;  // of each pair of columns, over 2 pi
  for (int64_t i = 0; i < sines; ++i)
    wavelengths.push_back(std::pow(10000.0, static_cast<double>(i) / divisor));
  const DeviceScope host(nullptr);
  Tensor table = Tensor::empty({rows, width});
  if (present > 0) std::copy_n(table_.data<float>(), present * width, table.data<float>());
  for (int64_t p = present; p < rows; ++p) {
    float* row = table.data<float>() + p * width;
    if (p == settings_.zero_row) {
      std::fill(row, row + width, 0.0f);
      continue;
    }
    for (int64_t column = 0; column < width; ++column) {
      const int64_t i = column / 2;
      const double angle = static_cast<double>(p) / wavelengths[static_cast<size_t>(i)];
      const bool sine = column % 2 == 0;
      const int64_t place =
          settings_.layout == kernels::PairLayout::interleaved ? column : (sine ? i : sines + i);
      row[place] = static_cast<float>(sine ? std::sin(angle) : std::cos(angle));
    }
  }
  table_ = table;
}

std::vector<int32_t> positions_within(const std::vector<int32_t>& offsets) {
  std::vector<int32_t> positions(static_cast<size_t>(offsets.back()));
  for (size_t b = 0; b + 1 < offsets.size(); ++b)
    std::iota(positions.begin() + offsets[b], positions.begin() + offsets[b + 1], 0);
  return positions;
}

}  // namespace heed::nn
