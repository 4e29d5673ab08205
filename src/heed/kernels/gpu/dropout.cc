#include "heed/kernels/dropout.h"

#include "heed/kernels/counter_hash.h"
#include "heed/kernels/gpu/code/elements/dropout.h"
#include "heed/kernels/gpu/launch_elements.h"

namespace heed::kernels::gpu {

void dropout_add_forward(const Tensor& x, const Tensor& residual, Dropout dropout, Tensor& y) {
  if (x.elements() == 0) return;
  launch(by_dtype(x.dtype(), "dropout_add_f32", "dropout_add_bf16"),
         shape_of_elements(x.elements(), {x.dtype()}),
         DropoutArguments{memory(x), memory(residual), memory(y), x.elements(), dropout.key,
                          drop_threshold(dropout.rate), 1.0f / (1.0f - dropout.rate)});
}

}  // namespace heed::kernels::gpu
