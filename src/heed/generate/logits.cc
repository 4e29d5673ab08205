#include "heed/generate/logits.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/argmax.h"

namespace heed::generate {

void check_logits(const Tensor& logits) {
  const auto classes = static_cast<size_t>(logits.cols());
  parallel_for(logits.rows(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const auto values =
          logits.values<float>().subspan(static_cast<size_t>(row) * classes, classes);
      const int64_t largest = kernels::argmax(values);
      require(largest >= 0 && std::isfinite(values[static_cast<size_t>(largest)]),
              "the model's logits are not finite: its weights are damaged");
    }
  });
}

Tensor checked_logits(const model::Transformer& model, Context& context, const Tensor& states) {
  Tensor logits = model.logits(context, states).to(nullptr);
  check_logits(logits);
  return logits;
}

}  // namespace heed::generate
