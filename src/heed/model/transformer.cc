#include "heed/model/transformer.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/kernels/matmul_blocks.h"
#include "heed/ops/activation.h"
#include "heed/ops/rows.h"

namespace heed::model {
namespace {

ModelConfig validated(ModelConfig config) {
  config.validate();
  return config;
}

nn::Spans shared(kernels::AttentionMetadata spans) {
  return std::make_shared<const kernels::AttentionMetadata>(std::move(spans));
}

/// Self-attention over whole sequences.
nn::SelfSpans whole(const std::vector<int32_t>& offsets) {
  return {shared(kernels::AttentionMetadata::self(offsets)),
          static_cast<int64_t>(offsets.size()) - 1};
}

/// The same with fewer keys. Attention takes the last query of a sequence to have the position of
/// the last key, which only biases and windows depend on.
nn::Spans attended_part(const ModelConfig& config, const Tokens& source) {
  kernels::AttentionMetadata spans = kernels::AttentionMetadata::self(source.offsets);
  require(std::ssize(source.attended) == spans.sequences(), "attended has {} numbers, expected {}",
          source.attended.size(), spans.sequences());
  require(!config.has_relative_bias(),
          "a model with relative biases cannot leave out tokens in attention");
  for (size_t b = 0; b < source.attended.size(); ++b) {
    const int64_t length = source.offsets[b + 1] - source.offsets[b];
    require(source.attended[b] >= 0 && source.attended[b] <= length,
            "attended[{}] is {}, expected 0 to {}", b, source.attended[b], length);
    for (const int64_t window : config.windows)
      require(window == 0 || length <= window,
              "a sequence of {} tokens is longer than the window of attention, {}, in which tokens "
              "cannot be left out",
              length, window);
    spans.kv_end[b] = spans.kv_begin[b] + source.attended[b];
  }
  return shared(std::move(spans));
}

// Scaled by sqrt(D), its rows have about the variance of the positions' sinusoids.
Parameter& create_embedding(nn::Parameters& parameters, const std::string& name, int64_t rows,
                            int64_t d_model) {
  return parameters.create(name, {rows, d_model},
                           nn::Initializer::normal(1.0f / std::sqrt(static_cast<float>(d_model))),
                           WeightRole::token_embedding);
}

/// Throws Error unless a model can be divided into so many parts.
void require_divisible(const ModelConfig& c, int parts) {
  const bool plain = c.encoder_layers == 0 && c.has_head && !c.latent.present() &&
                     !c.moe.present() && !c.has_relative_bias() && !c.qk_norm_across_heads &&
                     c.positions != PositionKind::sinusoidal;
  require(
      plain,
      "the model cannot be divided among ranks: that needs a decoder that predicts tokens, "
      "without latent attention, mixtures of experts, relative biases, sinusoids and norms over "
      "all heads");
  for (const auto& [name, size] :
       {std::pair("num_attention_heads", c.n_heads), std::pair("num_key_value_heads", c.n_kv_heads),
        std::pair("intermediate_size", c.d_ff)})
    require(size % parts == 0, "the model cannot be divided among {} ranks: {} is {}", parts, name,
            size);
}

}  // namespace

Transformer::Transformer(ModelConfig config, std::optional<uint64_t> seed,
                         std::shared_ptr<const nn::TensorParallel> parts)
    : config_(validated(std::move(config))),
      parts_(std::move(parts)),
      parameters_(seed, parts_.get()),
      embedding_(create_embedding(parameters_,
                                  config_.encoder_vocab_size > 0
                                      ? "model.decoder.embed_tokens.weight"
                                      : "model.shared.weight",
                                  parts_ ? parts_->size(config_.vocab_size) : config_.vocab_size,
                                  config_.embedding_width())),
      source_embedding_(config_.encoder_vocab_size > 0
                            ? &create_embedding(parameters_, "model.encoder.embed_tokens.weight",
                                                config_.encoder_vocab_size, config_.d_model)
                            : nullptr) {
  if (parts_) require_divisible(config_, parts_->world_size());
  if (config_.encoder_layers > 0)
    encoder_.emplace(parameters_, config_, Stack::Kind::encoder,
                     source_embedding_ ? *source_embedding_ : embedding_);
  if (config_.decoder_layers > 0)
    decoder_.emplace(parameters_, config_, Stack::Kind::decoder, embedding_);
  if (config_.has_head) head_.emplace(parameters_, config_, embedding_);
  if (config_.pooler)
    pooler_.emplace(parameters_, "model.pooler",
                    nn::Linear::Sizes{config_.d_model, config_.d_model}, WeightRole::pooler);
  if (config_.classifier.present()) classifier_.emplace(parameters_, config_);
}

void Transformer::move_to(Device* device) {
  require(!device || !parts_, "a model that is divided among ranks computes on the host alone");
  device_ = device;
  for (Parameter& parameter : parameters_.all())
    if (!parameter.packed.defined()) place(parameter);
}

void Transformer::set_sinusoids(Stack::Kind kind, const Tensor& rows) {
  std::optional<Stack>& stack = kind == Stack::Kind::encoder ? encoder_ : decoder_;
  if (stack) stack->embeddings().set_sinusoids(rows);
}

void Transformer::check_lengths(std::string_view what, const std::vector<int32_t>& offsets) const {
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    const int32_t length = offsets[b + 1] - offsets[b];
    require(length > 0, "{} {} has no tokens", what, b);
    require(!config_.limits_length() || length <= config_.max_positions,
            "{} {} has {} tokens, the model reads at most {}", what, b, length,
            config_.max_positions);
  }
}

void Transformer::require_adaptable(const Adapter& adapter) const {
  for (const auto& [weight, update] : adapter.updates)
    require(is_adaptable(weight->role),
            "{} cannot have an adapter while the model runs (heed merge adds it to the weights)",
            weight->name);
}

void Transformer::attach(std::vector<ScaledAdapter> adapters) {
  for (const ScaledAdapter& one : adapters) require_adaptable(*one.adapter);
  attached_ = std::move(adapters);
  attached_rows_.clear();
  if (!attached_.empty()) attached_rows_.push_back(all_rows(attached_));
}

void Transformer::use_attached(Context& context) const {
  if (context.adapters.empty()) context.adapters = attached_rows_;
}

Tensor Transformer::run_encoder(Context& context, const Tokens& source,
                                std::vector<Tensor>* layers) const {
  require(has_encoder(), "the model has no encoder");
  use_attached(context);
  check_lengths("source", source.offsets);
  nn::SelfSpans spans = whole(source.offsets);
  if (!source.attended.empty()) spans.spans = attended_part(config_, source);
  const std::vector<int32_t> positions = nn::positions_within(source.offsets);
  std::vector<nn::KeyValueCache> forgotten(encoder_->layers().size());
  return encoder_->forward(context, source.ids,
                           {positions, spans, forgotten, {}, nullptr, source.types, layers});
}

std::vector<Tensor> Transformer::encoder_layer_states(Context& context,
                                                      const Tokens& source) const {
  const DeviceScope scope(device_);
  std::vector<Tensor> states;
  run_encoder(context, source, &states);
  return states;
}

Memory Transformer::encode(Context& context, const Tokens& source) const {
  const DeviceScope scope(device_);
  Memory memory{run_encoder(context, source, nullptr), source.offsets, {}};
  if (!decoder_) return memory;
  memory.per_layer.reserve(decoder_->layers().size());
  for (const nn::TransformerLayer& layer : decoder_->layers())
    memory.per_layer.push_back(layer.memory_keys_values(context, memory.states));
  return memory;
}

Tensor Transformer::decode(Context& context, std::span<const int32_t> input, const Memory& memory,
                           const DecoderReads& reads) const {
  require(has_decoder(), "the model has no decoder");
  const DeviceScope scope(device_);
  use_attached(context);
  return decoder_->forward(
      context, input,
      {reads.positions, reads.own_spans, reads.caches, memory.per_layer, reads.memory_spans});
}

Tensor Transformer::decode_all(Context& context, const Tokens& input, const Memory& memory) const {
  require(has_decoder(), "the model has no decoder");
  check_lengths(has_encoder() ? "target" : "text", input.offsets);
  std::vector<nn::KeyValueCache> forgotten = make_caches(nn::KeyValueCache::Mode::none);
  const nn::Spans memory_spans =
      has_encoder() ? shared(kernels::AttentionMetadata::cross(input.offsets, memory.offsets))
                    : nullptr;
  const std::vector<int32_t> positions = nn::positions_within(input.offsets);
  return decode(context, input.ids, memory,
                {positions, whole(input.offsets), memory_spans, forgotten});
}

std::vector<nn::KeyValueCache> Transformer::make_caches(nn::KeyValueCache::Mode mode) const {
  return std::vector<nn::KeyValueCache>(static_cast<size_t>(config_.decoder_layers),
                                        nn::KeyValueCache(mode));
}

const Head& Transformer::head() const {
  require(head_.has_value(),
          "the model has no head that predicts tokens: its files have none, or one for labels");
  return *head_;
}

Tensor Transformer::logits(Context& context, const Tensor& states) const {
  const DeviceScope scope(device_);
  use_attached(context);
  return head().logits(context, states);
}

Tensor Transformer::pool(Context& context, const Tensor& states,
                         const std::vector<int32_t>& offsets) const {
  const DeviceScope scope(device_);
  use_attached(context);
  require(pooler_.has_value(), "the model has no pooler");
  const Tensor first =
      ops::gather_rows(context, states, std::span(offsets).first(offsets.size() - 1));
  return ops::activation(context, kernels::Activation::tanh, pooler_->forward(context, first));
}

Tensor Transformer::classify(Context& context, const Tokens& text) const {
  require(classifier_.has_value(), "the model has no classifier");
  const DeviceScope scope(device_);
  const Tensor states =
      has_encoder() ? encode(context, text).states : decode_all(context, text);  // [N, D]
  return classifier_->logits(context, states, text.ids, text.offsets);
}

ops::Loss Transformer::loss(Context& context, const Tokens& source, const Tokens& decoder_input,
                            std::span<const int32_t> targets,
                            kernels::CrossEntropyOptions options) const {
  const DeviceScope scope(device_);
  const Memory memory = encode(context, source);
  const Tensor states = decode_all(context, decoder_input, memory);  // [Nt, D]
  return head().loss(context, states, targets, options);
}

bool Transformer::is_multiplied_with(const Parameter& parameter) const {
  if (parameter.role == WeightRole::token_embedding)
    return head_ && config_.tied_head && &parameter != source_embedding_;
  return parameter.shape.rank() == 2 && is_multiplied(parameter.role);
}

bool Transformer::packs(const Parameter& parameter, DType dtype, Compute compute) const {
  if (!is_multiplied_with(parameter)) return false;
  switch (compute) {
    case Compute::f32:
      return dtype == DType::f32;
    case Compute::bf16:
      // Without instructions for bf16, panels are f32: twice the bytes that decoding would read.
      return dtype == DType::f32 || (dtype == DType::bf16 && (device_ || has_encoder() ||
                                                              kernels::multiplies_bf16_faster()));
    case Compute::int8:
      return kernels::multiplies_blocks(dtype);
  }
  return false;
}

bool Transformer::packs_int8(const Parameter& parameter) const {
  return has_encoder() && parameter.value.dtype() == DType::q8_0 &&
         PackedWeight::fits_int8(parameter.shape);
}

void Transformer::pack(Compute compute) {
  std::vector<Parameter*> all;
  for (Parameter& parameter : parameters_.all()) all.push_back(&parameter);
  pack(all, compute);
}

void Transformer::pack(std::span<Parameter* const> parameters, Compute compute) {
  const DeviceScope scope(device_);
  std::vector<Parameter*> in_blocks;
  std::vector<Tensor> weights;
  for (Parameter* const parameter : parameters) {
    check_interrupted();
    if (parameter->packed.defined() || !packs(*parameter, parameter->value.dtype(), compute))
      continue;
    if (compute == Compute::int8 && packs_int8(*parameter)) {
      parameter->packed = PackedWeight::of_int8(parameter->value);
    } else if (compute == Compute::int8) {
      in_blocks.push_back(parameter);
      weights.push_back(parameter->value);
    } else {
      parameter->packed = PackedWeight::of_floats(parameter->read(activation_dtype(compute)),
                                                  parameter->role == WeightRole::latent_key_value);
    }
  }
  std::vector<PackedWeight> blocks = PackedWeight::of_blocks(weights);
  for (size_t i = 0; i < blocks.size(); ++i) in_blocks[i]->packed = std::move(blocks[i]);
}

void Transformer::unpack() {
  for (const Parameter& parameter : parameters_.all())
    require(parameter.present() || !parameter.packed.defined(),
            "{} cannot be unpacked: its elements were freed when it was packed", parameter.name);
  for (Parameter& parameter : parameters_.all()) parameter.packed = {};
}

}  // namespace heed::model
