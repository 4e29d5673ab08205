#include "heed/engine/model_sizes.h"

#include "heed/quantize/quantization.h"

namespace heed::engine {

int64_t weight_bytes(const model::Transformer& model, DType dtype) {
  int64_t bytes = 0;
  for (const Parameter& parameter : model.parameters().all())
    bytes += bytes_of(quantize::quantized_dtype(dtype, parameter, parameter.shape, DType::f32),
                      parameter.shape.elements());
  return bytes;
}

int64_t cache_bytes_per_token(const model::Transformer& model, DType dtype) {
  const model::ModelConfig& c = model.config();
  const int64_t numbers = c.latent.present() ? c.latent.kv_lora_rank + c.latent.qk_rope_head_dim
                                             : c.n_kv_heads * (c.head_dim + c.v_head_dim);
  return c.decoder_layers * bytes_of(dtype, numbers);
}

int64_t context_length(const model::ModelConfig& config) {
  const bool bounded = config.limits_length() && config.positions != model::PositionKind::relative;
  return bounded ? config.max_positions : 0;
}

}  // namespace heed::engine
