#include "heed/model/gguf/write.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "heed/base/error.h"

namespace heed::model {
namespace {

using Kind = nn::RotaryScaling::Kind;

uint32_t number(int64_t value) { return static_cast<uint32_t>(value); }

/// The factor of longrope's attention scores (Ding et al. 2024), which llama.cpp does not compute.
float longrope_attention_factor(const nn::RotaryScaling& s) {
  if (s.attention_factor != 0.0) return static_cast<float>(s.attention_factor);
  const auto original = static_cast<double>(s.original_max_positions);
  return s.factor > 1.0
             ? static_cast<float>(std::sqrt(1.0 + std::log(s.factor) / std::log(original)))
             : 1.0f;
}

void write_rotary_scaling(const nn::RotaryScaling& s, ArchitectureValues& metadata) {
  const auto optional = [&](const char* key, double value, double otherwise) {
    if (value != otherwise) metadata.set(key, static_cast<float>(value));
  };
  switch (s.kind) {
    case Kind::none:
    case Kind::llama3:  // gguf_rotary_divisors() says it
      return;
    case Kind::dynamic:
    case Kind::ntk:
      fail("rope_type is {}, which GGUF files cannot say", name_of(s.kind));
    case Kind::linear:
    case Kind::yarn:
    case Kind::longrope:
      break;
  }
  metadata.set("rope.scaling.type", std::string(name_of(s.kind)));
  if (s.kind == Kind::longrope) {
    metadata.set("rope.scaling.attn_factor", longrope_attention_factor(s));
  } else {
    metadata.set("rope.scaling.factor", static_cast<float>(s.factor));
  }
  if (s.kind == Kind::linear) return;
  metadata.set("rope.scaling.original_context_length", number(s.original_max_positions));
  if (s.kind == Kind::longrope) return;
  optional("rope.scaling.yarn_attn_factor", s.attention_factor, 0.0);
  optional("rope.scaling.yarn_beta_fast", s.beta_fast, 0.0);
  optional("rope.scaling.yarn_beta_slow", s.beta_slow, 0.0);
}

/// The divisor of each frequency, in f32 as llama.cpp's converter computes it.
std::vector<float> llama3_divisors(const ModelConfig& config) {
  const nn::RotaryScaling& s = config.rotary_scaling;
  const auto factor = static_cast<float>(s.factor), low = static_cast<float>(s.low_freq_factor),
             high = static_cast<float>(s.high_freq_factor);
  const auto original = static_cast<float>(s.original_max_positions);
  std::vector<float> divisors;
  for (int64_t column = 0; column < config.rotary_dim; column += 2) {
    const float exponent = static_cast<float>(column) / static_cast<float>(config.rotary_dim);
    const float frequency = 1.0f / std::pow(static_cast<float>(config.rotary_theta), exponent);
    const float wavelength = 2.0f * std::numbers::pi_v<float> / frequency;
    const float kept = std::clamp((original / wavelength - low) / (high - low), 0.0f, 1.0f);
    divisors.push_back(1.0f / ((1.0f - kept) / factor + kept));
  }
  return divisors;
}

template <typename T>
io::NamedTensor vector_of(const char* name, const std::vector<T>& values) {
  Tensor tensor = Tensor::empty({std::ssize(values)});
  std::ranges::transform(values, tensor.data<float>(),
                         [](T value) { return static_cast<float>(value); });
  return {name, tensor};
}

}  // namespace

const Family& gguf_family_for(const ModelConfig& config) {
  const Family& family = family_for(config);
  require(!family.gguf.architectures.empty(), "heed knows no GGUF files of the family {}",
          family.model_type);
  return family;
}

std::string gguf_architecture(const ModelConfig& config) {
  const auto& architectures = gguf_family_for(config).gguf.architectures;
  return std::string(config.decoder_layers == 0 ? architectures.back() : architectures.front());
}

io::GgufValues gguf_metadata(const ModelConfig& config) {
  const Family& family = gguf_family_for(config);
  const GgufForm& form = family.gguf;
  const std::string architecture = gguf_architecture(config);
  io::GgufValues values{{"general.architecture", architecture},
                        {"general.type", std::string("model")},
                        {"general.quantization_version", uint32_t{2}}};
  ArchitectureValues metadata(architecture, values);
  const nlohmann::json json = family.write_config(config);
  for (const auto& fields : form.fields) write_fields(json, fields, metadata);
  metadata.set("block_count",
               number(config.encoder_layers > 0 ? config.encoder_layers : config.decoder_layers));
  metadata.set("vocab_size", number(config.vocab_size));
  if (!config.rotary_scaling.depends_on_context())
    metadata.set("context_length", number(config.max_positions));
  if (values.contains(architecture + ".attention.key_length"))
    metadata.set("attention.value_length", number(config.v_head_dim));
  if (config.decoder_layers == 0) metadata.set("attention.causal", false);
  if (config.positions == PositionKind::rotary)
    metadata.set(
        "rope.dimension_count",
        number(config.latent.present() ? config.latent.qk_rope_head_dim : config.rotary_dim));
  write_rotary_scaling(config.rotary_scaling, metadata);
  if (config.type_vocab_size > 0)
    values["tokenizer.ggml.token_type_count"] = number(config.type_vocab_size);
  const auto token = [&](const char* role, int64_t id) {
    if (id >= 0) values[fmt::format("tokenizer.ggml.{}_token_id", role)] = number(id);
  };
  token("bos", config.bos_id);
  token("eos", config.eos_id);
  token("padding", config.pad_id);
  if (form.write) form.write(config, metadata);
  return values;
}

std::vector<io::NamedTensor> gguf_rotary_divisors(const ModelConfig& config) {
  const nn::RotaryScaling& s = config.rotary_scaling;
  if (s.kind == Kind::llama3) return {vector_of("rope_freqs.weight", llama3_divisors(config))};
  if (s.kind != Kind::longrope) return {};
  return {vector_of("rope_factors_long.weight", s.long_factor),
          vector_of("rope_factors_short.weight", s.short_factor)};
}

}  // namespace heed::model
