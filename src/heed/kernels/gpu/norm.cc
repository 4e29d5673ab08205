#include "heed/kernels/norm.h"

#include "heed/kernels/gpu/code/reductions/norm.h"
#include "heed/kernels/gpu/launch_rows.h"

namespace heed::kernels::gpu {
namespace {

/// Without a bias for RMSNorm.
void launch_norm(const char* kernel, const RmsNormForward& in, const Tensor& bias, Tensor& y,
                 Tensor& stats) {
  if (in.x.elements() == 0) return;
  const RowShape shape = shape_of_row(in.x.cols(), 16 / size_of(in.x.dtype()));
  launch(kernel, launch_shape(shape, in.x.rows()),
         NormArguments{.x = memory(in.x),
                       .weight = elements<float>(in.weight),
                       .bias = elements<float>(bias),
                       .y = memory(y),
                       .stats = elements<float>(stats),
                       .rows = in.x.rows(),
                       .columns = static_cast<int>(in.x.cols()),
                       .epsilon = in.epsilon,
                       .shape = shape});
}

}  // namespace

void layer_norm_forward(const LayerNormForward& in, Tensor& y, Tensor& stats) {
  launch_norm(by_dtype(in.x.dtype(), "layer_norm_f32", "layer_norm_bf16"),
              {in.x, in.weight, in.epsilon}, in.bias, y, stats);
}

void rms_norm_forward(const RmsNormForward& in, Tensor& y, Tensor& stats) {
  launch_norm(by_dtype(in.x.dtype(), "rms_norm_f32", "rms_norm_bf16"), in, {}, y, stats);
}

}  // namespace heed::kernels::gpu
