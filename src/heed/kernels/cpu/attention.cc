#include "heed/kernels/attention.h"

namespace heed::kernels::cpu {

void attention_forward(const AttentionForward& in, Tensor& out, Tensor& log_sum) {
  reference::attention_forward(in, out, log_sum);
}

void attention_backward(const AttentionForward& in, const Tensor& out, const Tensor& log_sum,
                        const Tensor& d_out, AttentionGradients gradients) {
  reference::attention_backward(in, out, log_sum, d_out, gradients);
}

Tensor attention_weights(const AttentionForward& in, int64_t sequence) {
  return reference::attention_weights(in, sequence);
}

}  // namespace heed::kernels::cpu
