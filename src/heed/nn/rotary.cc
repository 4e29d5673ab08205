#include "heed/nn/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "heed/base/error.h"
#include "heed/base/parallel.h"

namespace heed::nn {
namespace {

using Kind = RotaryScaling::Kind;

/// Dynamic: the base grows with the longest sequence.
double base_of(const RotarySettings& settings) {
  const RotaryScaling& s = settings.scaling;
  if (s.kind == Kind::ntk) return settings.theta * s.factor;
  if (s.kind != Kind::dynamic) return settings.theta;
  const auto width = static_cast<double>(settings.width);
  const double length =
      static_cast<double>(settings.max_positions) / static_cast<double>(s.original_max_positions);
  return settings.theta *
         std::pow(s.factor * std::max(length, 1.0) - (s.factor - 1.0), width / (width - 2.0));
}

/// theta^(2c / r) for every pair c: positions per radian.
std::vector<float> wavelengths(const RotarySettings& settings) {
  const auto base = static_cast<double>(static_cast<float>(base_of(settings)));
  std::vector<float> result;
  for (int64_t c = 0; c < settings.width; c += 2) {
    const float exponent = static_cast<float>(c) / static_cast<float>(settings.width);
    result.push_back(static_cast<float>(std::pow(base, exponent)));
  }
  return result;
}

/// Wavelengths above original / low_freq_factor are multiplied by the factor, those below
/// original / high_freq_factor are kept, and those between are interpolated.
float llama3(float frequency, const RotaryScaling& s) {
  const auto original = static_cast<double>(s.original_max_positions);
  const auto factor = static_cast<float>(s.factor);
  const float wavelength = 1.0f / frequency * static_cast<float>(2.0 * std::numbers::pi);
  if (wavelength > static_cast<float>(original / s.low_freq_factor)) return frequency / factor;
  if (wavelength < static_cast<float>(original / s.high_freq_factor)) return frequency;
  const float kept =
      (1.0f / wavelength * static_cast<float>(original) - static_cast<float>(s.low_freq_factor)) /
      static_cast<float>(s.high_freq_factor - s.low_freq_factor);
  return (1.0f - kept) * frequency / factor + kept * frequency;
}

/// yarn: pairs before `begin` keep their frequency, pairs after `end` have it divided by the
/// factor, and pairs between are interpolated. The two are the pairs that make beta_fast and
/// beta_slow rotations within the original context.
struct Ramp {
  double begin, end;

  explicit Ramp(const RotarySettings& settings) {
    const RotaryScaling& s = settings.scaling;
    const auto width = static_cast<double>(settings.width);
    const auto correction_pair = [&](double rotations) {
      return width *
             std::log(static_cast<double>(s.original_max_positions) /
                      (rotations * 2.0 * std::numbers::pi)) /
             (2.0 * std::log(settings.theta));
    };
    begin = correction_pair(s.beta_fast);
    end = correction_pair(s.beta_slow);
    if (s.truncate) {
      begin = std::floor(begin);
      end = std::ceil(end);
    }
    begin = std::max(begin, 0.0);
    end = std::min(end, width - 1.0);
    if (begin == end) end += 0.001;
  }

  float at(size_t pair) const {
    const float along =
        (static_cast<float>(pair) - static_cast<float>(begin)) / static_cast<float>(end - begin);
    return std::clamp(along, 0.0f, 1.0f);
  }
};

/// The longest sequence divided by the original context.
double yarn_factor(const RotarySettings& settings) {
  const RotaryScaling& s = settings.scaling;
  if (s.factor > 0.0) return s.factor;
  return static_cast<double>(settings.max_positions) /
         static_cast<double>(s.original_max_positions);
}

double yarn_temperature(double factor, double mscale) {
  return factor <= 1.0 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
}

double yarn_attention_factor(const RotarySettings& settings) {
  const RotaryScaling& s = settings.scaling;
  const double factor = yarn_factor(settings);
  if (s.attention_factor != 0.0) return s.attention_factor;
  if (s.mscale != 0.0 && s.mscale_all_dim != 0.0)
    return yarn_temperature(factor, s.mscale) / yarn_temperature(factor, s.mscale_all_dim);
  return yarn_temperature(factor, 1.0);
}

double longrope_attention_factor(const RotaryScaling& s) {
  if (s.attention_factor != 0.0) return s.attention_factor;
  if (s.factor <= 1.0) return 1.0;
  return std::sqrt(1.0 +
                   std::log(s.factor) / std::log(static_cast<double>(s.original_max_positions)));
}

/// The factors for a context as long as the longest sequence.
const std::vector<double>& longrope_factors(const RotarySettings& settings) {
  const RotaryScaling& s = settings.scaling;
  return settings.max_positions > s.original_max_positions ? s.long_factor : s.short_factor;
}

void check_longrope(const RotarySettings& settings) {
  const RotaryScaling& s = settings.scaling;
  require(s.original_max_positions > 1,
          "rotary scaling: the original longest sequence is {}, expected more than 1",
          s.original_max_positions);
  for (const auto& [name, factors] :
       {std::pair{"short_factor", &s.short_factor}, std::pair{"long_factor", &s.long_factor}}) {
    require(std::ssize(*factors) == settings.width / 2,
            "rotary scaling: {} has {} numbers, expected {}", name, factors->size(),
            settings.width / 2);
    for (const double factor : *factors)
      require(factor > 0.0, "rotary scaling: {} has the number {}, expected more than 0", name,
              factor);
  }
}

void check(const RotarySettings& settings) {
  require(settings.width > 0 && settings.width % 2 == 0,
          "rotary positions: {} columns of a head cannot be paired", settings.width);
  require(settings.theta > 1.0, "rotary positions: theta is {}, expected more than 1",
          settings.theta);
  const RotaryScaling& s = settings.scaling;
  if (s.kind == Kind::none) return;
  const bool derived = s.kind == Kind::yarn && settings.max_positions > 0;
  require(s.factor > 0.0 || derived, "rotary scaling: the factor is {}, expected more than 0",
          s.factor);
  if (s.kind == Kind::linear || s.kind == Kind::ntk) return;
  require(s.original_max_positions > 0,
          "rotary scaling: the original longest sequence is {}, expected more than 0",
          s.original_max_positions);
  if (s.kind == Kind::longrope) return check_longrope(settings);
  if (s.kind == Kind::dynamic)
    return require(settings.width > 2, "rotary scaling: dynamic needs more than 2 columns");
  if (s.kind == Kind::llama3)
    require(s.low_freq_factor > 0.0 && s.high_freq_factor > s.low_freq_factor,
            "rotary scaling: low_freq_factor is {}, high_freq_factor {}; expected 0 < low < high",
            s.low_freq_factor, s.high_freq_factor);
  else
    require(s.beta_slow > 0.0 && s.beta_fast > 0.0,
            "rotary scaling: beta_fast is {}, beta_slow {}; expected more than 0", s.beta_fast,
            s.beta_slow);
}

}  // namespace

Rotary::Rotary(const RotarySettings& settings) {
  check(settings);
  const RotaryScaling& s = settings.scaling;
  frequencies_ = wavelengths(settings);
  if (s.kind == Kind::yarn) {
    const Ramp ramp(settings);
    const auto factor = static_cast<float>(yarn_factor(settings));
    for (size_t c = 0; c < frequencies_.size(); ++c) {
      const float kept = 1.0f - ramp.at(c), wavelength = frequencies_[c];
      frequencies_[c] = 1.0f / (factor * wavelength) * (1.0f - kept) + 1.0f / wavelength * kept;
    }
    attention_factor_ = static_cast<float>(yarn_attention_factor(settings));
    return;
  }
  if (s.kind == Kind::longrope) {
    const std::vector<double>& factors = longrope_factors(settings);
    for (size_t c = 0; c < frequencies_.size(); ++c)
      frequencies_[c] = 1.0f / (static_cast<float>(factors[c]) * frequencies_[c]);
    attention_factor_ = static_cast<float>(longrope_attention_factor(s));
    return;
  }
  const double ntk =
      s.kind == Kind::ntk ? std::pow(s.factor, 2.0 / static_cast<double>(settings.width)) : 1.0;
  for (float& frequency : frequencies_) {
    frequency = 1.0f / frequency / static_cast<float>(ntk);
    if (s.kind == Kind::linear) frequency /= static_cast<float>(s.factor);
    if (s.kind == Kind::llama3) frequency = llama3(frequency, s);
  }
}

Rotary::Rotation Rotary::at(std::span<const int32_t> positions) const {
  Device* const device = current_device();
  const DeviceScope host(nullptr);
  const auto rows = static_cast<int64_t>(positions.size());
  const auto pairs = static_cast<int64_t>(frequencies_.size());
  Rotation rotation{Tensor::empty({rows, pairs}), Tensor::empty({rows, pairs})};
  float* cos = rotation.cos.data<float>();
  float* sin = rotation.sin.data<float>();
  parallel_for(rows, 64, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n)
      for (int64_t c = 0; c < pairs; ++c) {
        const float angle = static_cast<float>(positions[static_cast<size_t>(n)]) *
                            frequencies_[static_cast<size_t>(c)];
        cos[n * pairs + c] = std::cos(angle) * attention_factor_;
        sin[n * pairs + c] = std::sin(angle) * attention_factor_;
      }
  });
  return {rotation.cos.to(device), rotation.sin.to(device)};
}

}  // namespace heed::nn
