#include "heed/kernels/soft_cap.h"

#include <cmath>

namespace heed::kernels::reference {

void soft_cap(float cap, Tensor& x) {
  float* values = x.data<float>();
  for (int64_t i = 0; i < x.elements(); ++i)
    values[i] = static_cast<float>(cap * std::tanh(static_cast<double>(values[i]) / cap));
}

}  // namespace heed::kernels::reference
