#include "heed/nn/alibi.h"

#include <bit>
#include <cmath>
#include <cstdlib>

#include "heed/tensor/device.h"

namespace heed::nn {

Alibi::Alibi(int64_t n_heads) {
  const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n_heads)));
  const auto slope = [](int64_t k, int64_t heads) {
    return static_cast<float>(
        std::exp2(-8.0 * static_cast<double>(k) / static_cast<double>(heads)));
  };
  for (int64_t k = 1; k <= power; ++k) slopes_.push_back(slope(k, power));
  for (int64_t k = 1; std::ssize(slopes_) < n_heads; k += 2) slopes_.push_back(slope(k, 2 * power));
}

Tensor Alibi::forward(int64_t reach) const {
  Device* const device = current_device();
  const DeviceScope host(nullptr);
  const int64_t columns = 2 * reach - 1;
  Tensor bias = Tensor::empty({std::ssize(slopes_), columns});
  float* to = bias.data<float>();
  for (const float slope : slopes_)
    for (int64_t c = 0; c < columns; ++c)
      *to++ = -slope * static_cast<float>(std::abs(c - (reach - 1)));
  return bias.to(device);
}

}  // namespace heed::nn
