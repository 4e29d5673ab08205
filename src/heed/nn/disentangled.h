#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/nn/norm.h"
#include "heed/nn/parameters.h"
#include "heed/ops/disentangled_bias.h"

namespace heed::nn {

/// Disentangled attention (DeBERTa, He et al. 2021): scores of contents with contents, and with
/// learned vectors of the distances between tokens.
struct DisentangledConfig {
  bool c2p = false, p2c = false;  // content to position: queries with distances; and keys with them
  int64_t buckets = 0;            // of distances; 0: each has a vector of its own
  int64_t max_distance = 0;       // beyond which all share a vector
  bool shared_projections = false;  // of contents and of distances
  bool norm = false;                // LayerNorm of the vectors of distances

  bool present() const { return c2p || p2c; }
  bool operator==(const DisentangledConfig&) const = default;
};

/// The distances between the tokens of a pass.
struct RelativeStates {
  Tensor states;                                        // [W, D], of those that occur
  std::shared_ptr<const std::vector<int32_t>> rows;     // kernels::DisentangledBias, [2 R - 1]
  std::shared_ptr<const std::vector<int32_t>> offsets;  // of the sequences, [B+1]
};

/// The vectors of distances, which all layers share.
class RelativeEmbeddings {
 public:
  /// Parameters are `name`.weight [2 S, D] and, with a norm, `name`_layer_norm.
  RelativeEmbeddings(Parameters& parameters, const std::string& name,
                     const DisentangledConfig& config, const Norm::Settings& norm);

  /// For the sequences `offsets` [B+1].
  RelativeStates forward(Context& context, const std::vector<int32_t>& offsets) const;

 private:
  ops::DistanceRows distances_;
  const Parameter& weight_;
  std::optional<Norm> norm_;
};

}  // namespace heed::nn
