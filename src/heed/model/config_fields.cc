#include "heed/model/config_fields.h"

#include <array>

namespace heed::model {

template <>
std::span<const kernels::Activation> values_of() {
  using enum kernels::Activation;
  static constexpr std::array kAll{relu, gelu, gelu_tanh, silu, tanh, clamped_swiglu};
  return kAll;
}

template <>
std::span<const nn::NormKind> values_of() {
  static constexpr std::array kAll{nn::NormKind::layer, nn::NormKind::rms};
  return kAll;
}

template <>
std::span<const nn::NormPlacement> values_of() {
  using enum nn::NormPlacement;
  static constexpr std::array kAll{post, pre, both, output};
  return kAll;
}

template <>
std::span<const nn::RouterScoring> values_of() {
  using enum nn::RouterScoring;
  static constexpr std::array kAll{softmax, sigmoid};
  return kAll;
}

template <>
std::span<const ClassifierConfig::Kind> values_of() {
  using enum ClassifierConfig::Kind;
  static constexpr std::array kAll{none, sequence, token};
  return kAll;
}

template <>
std::span<const ClassifierConfig::Pooling> values_of() {
  using enum ClassifierConfig::Pooling;
  static constexpr std::array kAll{first, last, mean, late};
  return kAll;
}

template <>
std::span<const ClassifierConfig::Problem> values_of() {
  using enum ClassifierConfig::Problem;
  static constexpr std::array kAll{unspecified, single_label, multi_label, regression};
  return kAll;
}

template <>
std::span<const PositionKind> values_of() {
  using enum PositionKind;
  static constexpr std::array kAll{none, sinusoidal, learned, rotary, relative, alibi};
  return kAll;
}

template <>
std::span<const kernels::PairLayout> values_of() {
  static constexpr std::array kAll{kernels::PairLayout::interleaved, kernels::PairLayout::halves};
  return kAll;
}

template <>
std::span<const nn::RotaryScaling::Kind> values_of() {
  using enum nn::RotaryScaling::Kind;
  static constexpr std::array kAll{none, linear, llama3, yarn, dynamic, longrope, ntk};
  return kAll;
}

}  // namespace heed::model
