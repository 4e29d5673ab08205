#include "heed/kernels/disentangled_bias.h"

#include "heed/base/error.h"

namespace heed::kernels::gpu {

void disentangled_bias_forward(const DisentangledBias&, Tensor&) {
  fail("disentangled attention does not compute on a GPU, expected the CPU");
}

void disentangled_bias_backward(const DisentangledBias&, const Tensor&, DisentangledGradients) {
  fail("disentangled attention does not compute on a GPU, expected the CPU");
}

}  // namespace heed::kernels::gpu
