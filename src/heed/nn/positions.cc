#include "heed/nn/positions.h"

#include <cmath>
#include <numeric>

namespace heed::nn {

Tensor sinusoids(int64_t positions, int64_t d_model, kernels::PairLayout layout) {
  Tensor table = Tensor::zeros({positions, d_model});
  const int64_t sines = (d_model + 1) / 2;
  for (int64_t p = 0; p < positions; ++p) {
    float* row = table.data<float>() + p * d_model;
    for (int64_t column = 0; column < d_model; ++column) {
      const int64_t i = column / 2;
      const double angle =
          static_cast<double>(p) /
          std::pow(10000.0, 2.0 * static_cast<double>(i) / static_cast<double>(d_model));
      const bool sine = column % 2 == 0;
      const int64_t place =
          layout == kernels::PairLayout::interleaved ? column : (sine ? i : sines + i);
      row[place] = static_cast<float>(sine ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

std::vector<int32_t> positions_within(const std::vector<int32_t>& offsets) {
  std::vector<int32_t> positions(static_cast<size_t>(offsets.back()));
  for (size_t b = 0; b + 1 < offsets.size(); ++b)
    std::iota(positions.begin() + offsets[b], positions.begin() + offsets[b + 1], 0);
  return positions;
}

}  // namespace heed::nn
