#include "heed/train/distributed/machine.h"

#include <algorithm>

#include "heed/kernels/matmul.h"

namespace heed::train {

Compute fastest_compute() {
  return kernels::multiplies_bf16_faster() ? Compute::bf16 : Compute::f32;
}

double operations_of_step(const model::ModelConfig& c, const StepTokens& tokens) {
  const auto source = static_cast<double>(tokens.source),
             target = static_cast<double>(tokens.decoder);
  const double queries = static_cast<double>(c.d_model * c.n_heads * (c.head_dim + c.v_head_dim));
  const double keys = static_cast<double>(c.d_model * c.n_kv_heads * (c.head_dim + c.v_head_dim));
  const int64_t hidden = c.moe.present()
                             ? (c.moe.experts_per_token + c.moe.n_shared_experts) * c.moe.d_expert
                             : c.d_ff;
  const double feed_forward = static_cast<double>((c.gated ? 3 : 2) * c.d_model * hidden);
  const auto encoder = static_cast<double>(c.encoder_layers);
  const auto decoder = static_cast<double>(c.decoder_layers);
  double weights = encoder * source * (queries + keys + feed_forward);
  weights += decoder * target * (queries + keys + feed_forward);
  if (c.encoder_layers > 0) weights += decoder * (target * queries + source * keys);
  weights += static_cast<double>(tokens.predicted) * static_cast<double>(c.d_model * c.vocab_size);

  const auto sequences = static_cast<double>(std::max<int64_t>(tokens.sequences, 1));
  const double pairs =
      encoder * source * source + decoder * (target * target / 2 + target * source);
  const double width = static_cast<double>(c.n_heads * (c.head_dim + c.v_head_dim)) / 2;
  return 6 * weights + 12 * width * pairs / sequences;
}

}  // namespace heed::train
