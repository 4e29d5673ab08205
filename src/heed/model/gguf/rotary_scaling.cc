#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/kernels/as_f32.h"
#include "heed/model/gguf/metadata.h"

namespace heed::model {

using Json = nlohmann::json;

namespace {

/// The file has the divisor of each rotary frequency instead of Llama 3.1's rope_scaling. All
/// published models have low_freq_factor 1 and high_freq_factor 4; the divisors give the rest.
Json llama3_scaling(const Tensor& divisors, double theta, const std::string& where) {
  constexpr double kLow = 1.0, kHigh = 4.0;
  const std::span<const float> d = divisors.values<float>();
  const double factor = d.empty() ? 1.0 : *std::ranges::max_element(d);
  if (factor <= 1.0) return {};
  const auto wavelength = [&](size_t pair) {
    const double exponent = static_cast<double>(pair) / static_cast<double>(d.size());
    return 2.0 * std::numbers::pi * std::pow(theta, exponent);
  };
  double sum = 0.0, blended = 0.0;
  for (size_t pair = 0; pair < d.size(); ++pair) {
    if (d[pair] < 1.001 || d[pair] > 0.999 * factor) continue;
    const double kept = (1.0 / d[pair] - 1.0 / factor) / (1.0 - 1.0 / factor);
    sum += wavelength(pair) * (kept * (kHigh - kLow) + kLow);
    ++blended;
  }
  require(blended > 0.0, "{}: no divisor is between 1 and {}, so this is not Llama 3's scaling",
          where, factor);
  const double original = std::round(sum / blended);
  require(original >= 1.0 && original < 1e9,
          "{}: Llama 3's scaling from {} positions is not plausible", where, original);
  for (size_t pair = 0; pair < d.size(); ++pair) {
    const double kept = std::clamp((original / wavelength(pair) - kLow) / (kHigh - kLow), 0.0, 1.0);
    const double expected = 1.0 / ((1.0 - kept) / factor + kept);
    require(std::abs(expected - d[pair]) < 1e-3 * expected,
            "{}: divisor {} is {}, expected {} for Llama 3's scaling by {} from {} positions",
            where, pair, d[pair], expected, factor, original);
  }
  return {{"rope_type", "llama3"},
          {"factor", factor},
          {"low_freq_factor", kLow},
          {"high_freq_factor", kHigh},
          {"original_max_position_embeddings", static_cast<int64_t>(original)}};
}

std::vector<double> numbers(const io::GgufFile& file, const char* tensor) {
  const Tensor values = kernels::as_f32(file.get(tensor));
  return {values.data<float>(), values.data<float>() + values.elements()};
}

/// The attention factor in the file is the one that follows from the two lengths.
Json longrope_scaling(const ArchitectureMetadata& metadata) {
  return {{"rope_type", "longrope"},
          {"original_max_position_embeddings",
           metadata.get<int64_t>("rope.scaling.original_context_length")},
          {"short_factor", numbers(metadata.file(), "rope_factors_short.weight")},
          {"long_factor", numbers(metadata.file(), "rope_factors_long.weight")},
          {"attention_factor", metadata.json<double>("rope.scaling.attn_factor")}};
}

}  // namespace

Json rotary_scaling(const ArchitectureMetadata& metadata) {
  // As in llama.cpp, a factor without a type is linear, and files had another key for it.
  const double factor = metadata.get_or("rope.scaling.factor", 0.0);
  const double older = metadata.get_or("rope.scale_linear", 0.0);
  const double scale = factor != 0.0 ? factor : older;
  auto type = metadata.get_or<std::string>("rope.scaling.type", "linear");
  if (type == "linear" && (scale == 0.0 || scale == 1.0)) type = "none";
  constexpr const char* kDivisors = "rope_freqs.weight";
  if (metadata.file().contains(kDivisors)) {
    require(type == "none", "{}: rope.scaling.type is {}, expected none beside {}",
            metadata.file().name(), quoted(type), kDivisors);
    return llama3_scaling(kernels::as_f32(metadata.file().get(kDivisors)),
                          metadata.get_or("rope.freq_base", 10000.0),
                          metadata.file().name() + ": " + kDivisors);
  }
  if (metadata.file().contains("rope_factors_long.weight")) return longrope_scaling(metadata);
  metadata.expect("rope.scaling.attn_factor", 1.0);
  if (type == "none") return {};
  Json scaling = {{"rope_type", type}, {"factor", scale == 0.0 ? Json() : Json(scale)}};
  const auto copy = [&](const char* to, const char* from) {
    if (metadata.contains(from)) scaling[to] = metadata.get<double>(from);
  };
  if (metadata.contains("rope.scaling.original_context_length"))
    scaling["original_max_position_embeddings"] =
        metadata.get<int64_t>("rope.scaling.original_context_length");
  if (type != "yarn") return scaling;
  metadata.expect("rope.scaling.yarn_ext_factor", 1.0);
  copy("beta_fast", "rope.scaling.yarn_beta_fast");
  copy("beta_slow", "rope.scaling.yarn_beta_slow");
  copy("attention_factor", "rope.scaling.yarn_attn_factor");
  return scaling;
}

}  // namespace heed::model
