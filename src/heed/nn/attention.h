#pragma once

#include <memory>
#include <optional>
#include <string>

#include "heed/nn/disentangled.h"
#include "heed/nn/key_value_cache.h"
#include "heed/nn/linear.h"
#include "heed/nn/norm.h"
#include "heed/nn/rotary.h"
#include "heed/ops/context.h"

namespace heed::nn {

/// The positions of a pass's tokens in the form that self-attention uses. Empty in cross-attention,
/// and in models that add positions to the embeddings.
struct PositionEncoding {
  Rotary::Rotation rotation;  // applied to queries and keys (Su et al. 2021)
  Tensor relative_bias;       // [H, 2 R - 1], added to the scores (Raffel et al. 2020)
  RelativeStates relative;    // of disentangled attention (He et al. 2021)
};

/// Multi-head attention (Vaswani et al. 2017, 3.2.2): queries, keys and values are projected, every
/// head attends, the concatenation is projected back. Multi-query (Shazeer 2019) and grouped-query
/// (Ainslie et al. 2023) attention have fewer key/value heads. n_heads * head_dim need not be
/// d_model. With tensor parallelism, `settings` count the heads of this part.
class Attention {
 public:
  /// RMSNorm of queries and keys, before the rotation.
  struct QkNorm {
    float epsilon = 1e-5f;
    bool unit_offset = false;   // the scale is 1 + weight (Gemma)
    bool across_heads = false;  // over all heads at once instead of each (OLMo 2)
  };
  struct Settings {
    int64_t d_model = 0;
    int64_t n_heads = 1, n_kv_heads = 1;
    int64_t head_dim = 0, v_head_dim = 0;
    bool qkv_bias = true, o_bias = true;
    float scale = 0.0f;          // of the scores; 0: 1 / sqrt(head_dim)
    float scale_divisor = 1.0f;  // divides this scale (GPT-2's scale_attn_by_inverse_layer_idx)
    float soft_cap = 0.0f;       // 0: none
    float dropout = 0.0f;        // on the weights
    bool causal = false;
    int64_t window = 0;  // 0: none
    std::optional<QkNorm> qk_norm = {};
    bool sinks = false;  // attention sinks: a learned score per head, of no key (gpt-oss)
    kernels::PairLayout rotary_layout = kernels::PairLayout::halves;
    DisentangledConfig disentangled = {};
    float position_dropout = 0.0f;  // of the vectors of distances

    /// The kernel's options for `kv_heads` key/value heads.
    kernels::AttentionOptions options(int64_t kv_heads) const;
  };
  /// Parameters are `name`.q_proj, k_proj, v_proj, o_proj, and q_norm, k_norm, sinks,
  /// position_k_proj, position_q_proj.
  Attention(Parameters& parameters, const std::string& name, Settings settings, AttentionSite site);

  /// The keys and values of x [Nk, D]: the sequence itself in self-attention, the encoder's output
  /// in cross-attention, where they are computed once per source.
  KeysValues keys_values(Context& context, const Tensor& x,
                         const PositionEncoding& positions) const;

  /// The queries of x [Nq, D] attend to `kv`: [Nq, D].
  Tensor attend(Context& context, const Tensor& x, const KeysValues& kv, const Spans& spans,
                const PositionEncoding& positions) const;

  /// Self-attention of x [N, D], whose keys and values are written to `cache`: [N, D].
  Tensor attend_self(Context& context, const Tensor& x, KeyValueCache& cache,
                     const SelfSpans& spans, const PositionEncoding& positions) const;

 private:
  /// Attention of queries that are normalised and rotated, and the projection back.
  Tensor attend_and_project(Context& context, const Tensor& queries, const KeysValues& kv,
                            const Spans& spans, const PositionEncoding& positions) const;
  /// What distances add to the scores of queries and keys [N, H d]; undefined: nothing.
  Tensor pair_bias(Context& context, const Tensor& queries, const Tensor& keys,
                   const RelativeStates& relative) const;
  /// The norm of `heads` queries or keys.
  Norm::Settings qk_norm(int64_t heads) const;
  /// Queries or keys [N, heads * d], normalised and rotated where the model does either.
  Tensor normalise_and_rotate(Context& context, Tensor x, const std::optional<Norm>& norm,
                              int64_t heads, const PositionEncoding& positions) const;

  Settings settings_;
  const TensorParallel* parts_;  // of the heads
  AttentionSite site_;
  Linear q_proj_, k_proj_, v_proj_, o_proj_;
  std::optional<Norm> q_norm_, k_norm_;
  std::optional<Linear> position_k_proj_, position_q_proj_;  // absent: those of contents
  const Parameter* sinks_ = nullptr;
};

}  // namespace heed::nn
