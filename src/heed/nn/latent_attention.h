#pragma once

#include <optional>
#include <string>

#include "heed/nn/attention.h"
#include "heed/nn/norm.h"

namespace heed::nn {

/// The widths of multi-head latent attention.
struct LatentDims {
  int64_t kv_lora_rank = 0;      // r: of the latent that keys and values are computed from; 0: none
  int64_t q_lora_rank = 0;       // of the queries' latent; 0: queries are projected directly
  int64_t qk_rope_head_dim = 0;  // dr: the rotated part of head_dim, one key for all heads

  bool present() const { return kv_lora_rank > 0; }
  bool operator==(const LatentDims&) const = default;
};

/// Multi-head latent attention (DeepSeek-V2, 2024, 2.1). The cache keeps a latent of r numbers for
/// each token, and a rotary key of dr numbers that all heads share. A pass over whole sequences
/// computes every head's keys and values from the latents. Decoding absorbs the up-projections of
/// keys and values into queries and outputs instead: all heads attend to the latents.
class LatentAttention {
 public:
  struct Settings {
    Attention::Settings attention;  // head_dim: qk_nope_head_dim + dr
    LatentDims dims;
    Norm::Settings norm;  // of the latents; width and epsilon are not used
  };
  /// Parameters are `name`.q_proj (or q_a_proj, q_a_norm, q_b_proj), kv_a_proj, kv_a_norm,
  /// kv_b_proj, o_proj.
  LatentAttention(Parameters& parameters, const std::string& name, Settings settings,
                  AttentionSite site);

  /// The latents and rotary keys of x [Nk, D] as keys [Nk, r + dr]; no values.
  KeysValues keys_values(Context& context, const Tensor& x,
                         const PositionEncoding& positions) const;

  /// The queries of x [Nq, D] attend to `kv`: [Nq, D].
  Tensor attend(Context& context, const Tensor& x, const KeysValues& kv, const Spans& spans,
                const PositionEncoding& positions) const;

  /// Self-attention of x [N, D], whose latents are appended to `cache`: [N, D].
  Tensor attend_self(Context& context, const Tensor& x, KeyValueCache& cache, const Spans& spans,
                     const PositionEncoding& positions) const;

 private:
  Tensor queries(Context& context, const Tensor& x, const PositionEncoding& positions) const;
  Tensor attend_expanded(Context& context, const Tensor& queries, const Tensor& kv,
                         const Spans& spans) const;
  Tensor attend_absorbed(Context& context, const Tensor& queries, const Tensor& kv,
                         const Spans& spans) const;
  /// The part of head_dim that is not rotated.
  int64_t qk_nope_head_dim() const {
    return settings_.attention.head_dim - settings_.dims.qk_rope_head_dim;
  }

  Settings settings_;
  AttentionSite site_;
  std::optional<Linear> q_proj_, q_a_proj_, q_b_proj_;
  std::optional<Norm> q_a_norm_;
  Linear kv_a_proj_;
  Norm kv_a_norm_;
  Linear kv_b_proj_, o_proj_;
};

}  // namespace heed::nn
