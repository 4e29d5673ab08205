#pragma once

#include <string>
#include <string_view>

#include "heed/nn/parameters.h"
#include "heed/ops/context.h"

namespace heed::nn {

enum class NormKind { layer, rms };

/// "layer" or "rms".
constexpr std::string_view name_of(NormKind kind) {
  return kind == NormKind::layer ? "layer" : "rms";
}

/// LayerNorm (scale and shift, or scale only) or RMSNorm (scale only) over d_model.
class Norm {
 public:
  struct Settings {
    NormKind kind = NormKind::layer;
    int64_t d_model = 0;
    float epsilon = 1e-5f;
    bool unit_offset = false;  // RMSNorm: the scale is 1 + weight (Gemma)
    bool bias = true;          // LayerNorm: shift by a bias
  };
  Norm(Parameters& parameters, const std::string& name, Settings settings);

  /// x [N, D] -> [N, D]; see ops::result_for().
  Tensor forward(Context& context, Tensor x) const;

 private:
  Settings settings_;
  const Parameter& weight_;
  const Parameter& bias_;
};

}  // namespace heed::nn
