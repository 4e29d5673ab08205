#pragma once

#include <optional>
#include <string>

#include "heed/nn/attention.h"
#include "heed/nn/norm.h"

namespace heed::nn {

/// The widths of multi-head latent attention.
struct LatentRanks {
  int64_t keys_values = 0;  // r: of the latent that keys and values are rebuilt from; 0: none
  int64_t queries = 0;      // of the queries' latent; 0: queries are projected directly
  int64_t rotary = 0;       // dr: the part of d_head that is rotated, one key for all heads

  bool present() const { return keys_values > 0; }
  bool operator==(const LatentRanks&) const = default;
};

/// Multi-head latent attention (DeepSeek-V2, 2024, 2.1). A token offers a latent of r numbers and a
/// rotary key of dr numbers that all heads share, and only these are kept in the cache. A pass over
/// whole sequences rebuilds every head's keys and values from the latents. Decoding rebuilds
/// nothing: the rebuilding maps are absorbed into the queries and the results, so that heads attend
/// to the latents themselves, all to the same.
class LatentAttention {
 public:
  struct Settings {
    Attention::Settings attention;  // d_head covers both parts of a key: what is rebuilt, then dr
    LatentRanks ranks;
    Norm::Settings norm;  // of the latents, but for width and epsilon
  };
  /// Parameters are `name`.q_proj (or q_a_proj, q_a_norm, q_b_proj), kv_a_proj, kv_a_norm,
  /// kv_b_proj, o_proj.
  LatentAttention(Parameters& parameters, const std::string& name, Settings settings,
                  AttentionSite site);

  /// What x [Nk, D] offers: "keys" of latent and rotary key [Nk, r + dr], no values.
  KeysValues keys_values(Context& context, const Tensor& x, const Places& places) const;

  /// Lets the queries of x [Nq, D] attend to `offered`; the result is [Nq, D].
  Tensor attend(Context& context, const Tensor& x, const KeysValues& offered, const Spans& spans,
                const Places& places) const;

  /// Self-attention of x [N, D], whose latents `cache` is extended by: both of the above.
  Tensor attend_self(Context& context, const Tensor& x, KeyValueCache& cache, const Spans& spans,
                     const Places& places) const;

 private:
  Tensor queries(Context& context, const Tensor& x, const Places& places) const;
  Tensor attend_rebuilt(Context& context, const Tensor& queries, const Tensor& offered,
                        const Spans& spans) const;
  Tensor attend_absorbed(Context& context, const Tensor& queries, const Tensor& offered,
                         const Spans& spans) const;
  int64_t d_rebuilt() const { return settings_.attention.d_head - settings_.ranks.rotary; }

  Settings settings_;
  AttentionSite site_;
  std::optional<Linear> q_proj_, q_a_proj_, q_b_proj_;
  std::optional<Norm> q_a_norm_;
  Linear kv_a_proj_;
  Norm kv_a_norm_;
  Linear kv_b_proj_, o_proj_;
};

}  // namespace heed::nn
