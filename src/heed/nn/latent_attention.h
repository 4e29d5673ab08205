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
/// each token, and a rotary key of dr numbers that all heads share. For the tokens of a prompt,
/// every head's keys and values are computed from the latents (expanded). For generated tokens, the
/// up-projections of keys and values are absorbed into queries and outputs instead: all heads
/// attend to the latents.
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

  /// Self-attention of x [N, D], whose latents are written to `cache`: [N, D].
  Tensor attend_self(Context& context, const Tensor& x, KeyValueCache& cache,
                     const SelfSpans& spans, const PositionEncoding& positions) const;

 private:
  /// The latents and rotary keys of x [N, D] as keys [N, r + dr]; no values.
  KeysValues latents(Context& context, const Tensor& x, const PositionEncoding& positions) const;
  Tensor queries(Context& context, const Tensor& x, const PositionEncoding& positions) const;
  /// Queries [Nq, H d] attend to the cached latents [Nk, r + dr]: [Nq, H dv].
  Tensor attend_expanded(Context& context, const Tensor& queries, const Tensor& cached,
                         const Spans& spans) const;
  Tensor attend_absorbed(Context& context, const Tensor& queries, const Tensor& cached,
                         const Spans& spans) const;
  /// Prompts expanded, generated tokens absorbed.
  Tensor attend_both(Context& context, const Tensor& queries, const Tensor& cached,
                     const SelfSpans& spans) const;
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
