#include "heed/kernels/argmax.h"

#include <algorithm>
#include <cmath>

namespace heed::kernels::reference {

int64_t argmax(std::span<const float> x) {
  const bool number =
      std::none_of(x.begin(), x.end(), [](float value) { return std::isnan(value); });
  return x.empty() || !number ? -1 : std::max_element(x.begin(), x.end()) - x.begin();
}

}  // namespace heed::kernels::reference
