#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heed/kernels/rotary.h"
#include "heed/tensor/tensor.h"

namespace heed::nn {

using kernels::PairLayout;

/// How rotary frequencies are scaled for sequences longer than the original context, which the
/// model was first trained with. 0 means not given.
struct RotaryScaling {
  enum class Kind {
    none,
    linear,    // all frequencies / factor (Chen et al. 2023)
    llama3,    // the low ones / factor, the high ones kept, those between blended (Llama 3.1)
    yarn,      // the same by rotations within the original context (Peng et al. 2023)
    dynamic,   // a larger base for a longer context than the original one ("NTK-aware")
    longrope,  // each one / a factor of its own, for the original or a longer context (Ding et al.
               // 2024)
    ntk        // a base larger by the factor, and all / factor^(2 / r) (Alibaba's GTE)
  };
  Kind kind = Kind::none;
  /// Yarn, if not given: longest sequence / original one. Longrope: that of the published model.
  double factor = 0.0;
  int64_t original_max_positions = 0;                    // all but linear and ntk
  double low_freq_factor = 1.0, high_freq_factor = 4.0;  // llama3: original context / wavelength
  double beta_fast = 32.0, beta_slow = 1.0;              // yarn: rotations in original context
  double mscale = 0.0, mscale_all_dim = 0.0;             // yarn: see attention_factor()
  double attention_factor = 0.0;                         // replaces yarn's or longrope's own
  bool truncate = true;  // yarn: correction range rounded to integers
  std::vector<double> short_factor = {}, long_factor = {};  // longrope: of each pair, [r / 2]

  /// Whether the frequencies depend on RotarySettings::max_positions. They are the same for all
  /// texts of a model, so that keys can be cached.
  bool depends_on_context() const { return kind == Kind::dynamic || kind == Kind::longrope; }

  bool operator==(const RotaryScaling&) const = default;
};

struct RotarySettings {
  int64_t width = 0;  // r: columns of a head that are rotated
  double theta = 10000.0;
  RotaryScaling scaling = {};
  int64_t max_positions = 0;  // longest sequence
};

/// "none", "linear", "llama3", "yarn", "dynamic", "longrope" or "ntk".
constexpr std::string_view name_of(RotaryScaling::Kind kind) {
  constexpr std::array<std::string_view, 7> kNames{"none",    "linear",   "llama3", "yarn",
                                                   "dynamic", "longrope", "ntk"};
  return kNames[static_cast<size_t>(kind)];
}

/// Angles of rotary positions (Su et al. 2021): pair c of the token at position p is rotated by
/// p theta^(-2c / r), in f32 as the reference implementations have it.
class Rotary {
 public:
  using Rotation = kernels::Rotation;

  /// Throws Error on an odd width and on a scaling without its numbers.
  explicit Rotary(const RotarySettings& settings);

  /// Cosines and sines [N, r / 2] for positions [N], times attention_factor().
  Rotation at(std::span<const int32_t> positions) const;

  /// The factor of cosines and sines: the temperature of yarn and longrope (scores grow by its
  /// square), otherwise 1.
  float attention_factor() const { return attention_factor_; }
  /// Radians per position, [r / 2].
  std::span<const float> frequencies() const { return frequencies_; }

 private:
  std::vector<float> frequencies_;
  float attention_factor_ = 1.0f;
};

}  // namespace heed::nn
