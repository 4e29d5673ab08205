#include "heed/model/transformer.h"

#include <cmath>
#include <string>

#include "heed/base/error.h"
#include "heed/kernels/matmul.h"
#include "heed/ops/dropout.h"

namespace heed::model {
namespace {

ModelConfig validated(ModelConfig config) {
  config.validate();
  return config;
}

nn::Norm::Settings norm_settings(const ModelConfig& c) {
  return {.kind = c.norm, .d_model = c.d_model, .epsilon = c.norm_epsilon};
}

nn::TransformerLayer::Settings layer_settings(const ModelConfig& c, bool decoder) {
  return {.attention = {.d_model = c.d_model,
                        .n_heads = c.n_heads,
                        .n_kv_heads = c.n_kv_heads,
                        .d_head = c.d_head,
                        .d_value = c.d_value,
                        .bias = c.linear_bias,
                        .dropout = c.attention_dropout},
          .feed_forward = {.d_model = c.d_model,
                           .d_ff = c.d_ff,
                           .activation = c.activation,
                           .gated = c.gated,
                           .bias = c.linear_bias,
                           .dropout = c.activation_dropout},
          .norm = norm_settings(c),
          .placement = c.norm_placement,
          .dropout = c.dropout,
          .decoder = decoder,
          .cross_attention = decoder};
}

nn::Spans shared(kernels::AttentionSpans spans) {
  return std::make_shared<const kernels::AttentionSpans>(std::move(spans));
}

}  // namespace

Transformer::Transformer(ModelConfig config, uint64_t seed)
    : config_(validated(config)),
      parameters_(seed),
      // Scaled by sqrt(D) on the way in, its rows have about the variance of the positions'
      // sinusoids.
      embedding_(parameters_.create(
          "model.shared.weight", {config_.vocab_size, config_.d_model},
          nn::Initializer::normal(1.0f / std::sqrt(static_cast<float>(config_.d_model))))),
      head_bias_(config_.head_bias ? parameters_.create("final_logits_bias", {config_.vocab_size},
                                                        nn::Initializer::zeros())
                                   : parameters_.absent()) {
  const ModelConfig& c = config_;
  if (c.positions == PositionKind::sinusoidal)
    positions_.fixed = nn::sinusoids(c.max_positions, c.d_model, c.sinusoid_layout);
  if (c.positions == PositionKind::learned)
    positions_.learned =
        &parameters_.create("model.embed_positions.weight", {c.max_positions, c.d_model},
                            nn::Initializer::normal(0.02f));
  for (int layer = 0; layer < c.encoder_layers; ++layer)
    encoder_.emplace_back(parameters_, "model.encoder.layers." + std::to_string(layer),
                          layer_settings(c, false), layer);
  for (int layer = 0; layer < c.decoder_layers; ++layer)
    decoder_.emplace_back(parameters_, "model.decoder.layers." + std::to_string(layer),
                          layer_settings(c, true), layer);
  if (c.norm_placement == nn::NormPlacement::pre) {
    encoder_norm_.emplace(parameters_, "model.encoder.layer_norm", norm_settings(c));
    decoder_norm_.emplace(parameters_, "model.decoder.layer_norm", norm_settings(c));
  }
}

Tensor Transformer::embed(Context& context, std::span<const int32_t> ids,
                          std::span<const int32_t> positions) const {
  const float scale =
      config_.scale_embedding ? std::sqrt(static_cast<float>(config_.d_model)) : 1.0f;
  const Tensor x = ops::embedding(context, {ids, positions}, embedding_, scale, positions_);
  return ops::dropout(context, x, config_.dropout);  // [N, D]
}

Tensor Transformer::final_norm(Context& context, const std::optional<nn::Norm>& norm,
                               const Tensor& x) const {
  return norm ? norm->forward(context, x) : x;
}

void Transformer::check_lengths(std::string_view what, const std::vector<int32_t>& offsets) const {
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    const int32_t length = offsets[b + 1] - offsets[b];
    require(length > 0, "{} {} has no tokens", what, b);
    require(config_.positions == PositionKind::none || length <= config_.max_positions,
            "{} {} has {} tokens, the model reads at most {}", what, b, length,
            config_.max_positions);
  }
}

Memory Transformer::encode(Context& context, const Tokens& source) const {
  check_lengths("source", source.offsets);
  const nn::Spans spans = shared(kernels::AttentionSpans::self(source.offsets));
  Tensor x = embed(context, source.ids, nn::positions_within(source.offsets));  // [Ns, D]
  const nn::KeysValues none;
  for (const nn::TransformerLayer& layer : encoder_) {
    nn::KeyValueCache forgotten;
    x = layer.forward(context, x, {forgotten, spans, none, spans});  // [Ns, D]
  }
  Memory memory{final_norm(context, encoder_norm_, x), source.offsets, {}};
  for (const nn::TransformerLayer& layer : decoder_)
    memory.per_layer.push_back(layer.memory_keys_values(context, memory.states));
  return memory;
}

Tensor Transformer::decode(Context& context, std::span<const int32_t> input, const Memory& memory,
                           const DecoderReads& reads) const {
  Tensor x = embed(context, input, reads.positions);  // [N, D]
  for (size_t layer = 0; layer < decoder_.size(); ++layer)
    x = decoder_[layer].forward(context, x,
                                {reads.caches[layer], reads.own_spans, memory.per_layer[layer],
                                 reads.memory_spans});  // [N, D]
  return final_norm(context, decoder_norm_, x);
}

Tensor Transformer::decode_all(Context& context, const Tokens& input, const Memory& memory) const {
  check_lengths("target", input.offsets);
  std::vector<nn::KeyValueCache> forgotten(decoder_.size());
  return decode(
      context, input.ids, memory,
      {nn::positions_within(input.offsets), shared(kernels::AttentionSpans::self(input.offsets)),
       shared(kernels::AttentionSpans::cross(input.offsets, memory.offsets)), forgotten});
}

Tensor Transformer::logits(Context& context, const Tensor& states) const {
  require(!context.tape, "logits have no backward step: train through loss()");
  Tensor logits = Tensor::empty({states.rows(), config_.vocab_size});
  const kernels::MatmulOptions options{.bias = head_bias_.value};
  if (!context.tape && embedding_.packed.defined())
    kernels::matmul_packed(states, embedding_.packed, options, logits);
  else
    kernels::matmul({states}, {embedding_.read(states.dtype()), true}, options, logits);
  return logits;
}

ops::Loss Transformer::loss(Context& context, const Tokens& source, const Tokens& decoder_input,
                            std::span<const int32_t> targets,
                            kernels::CrossEntropyOptions options) const {
  const Memory memory = encode(context, source);
  const Tensor states = decode_all(context, decoder_input, memory);  // [Nt, D]
  return ops::cross_entropy(context, states, embedding_, head_bias_, targets, options);
}

void Transformer::prepare(DType dtype) {
  if (dtype == DType::bf16) parameters_.make_working_copies();
}

void Transformer::pack(DType dtype) {
  prepare(dtype);
  for (Parameter& parameter : parameters_.all())
    if (parameter.shape.rank() == 2)
      parameter.packed = kernels::pack({parameter.read(dtype), true});
}

void Transformer::unpack() {
  for (Parameter& parameter : parameters_.all()) parameter.packed = {};
}

}  // namespace heed::model
