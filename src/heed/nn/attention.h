#pragma once

#include <memory>
#include <string>

#include "heed/nn/key_value_cache.h"
#include "heed/nn/linear.h"
#include "heed/ops/context.h"

namespace heed::nn {

using Spans = std::shared_ptr<const kernels::AttentionSpans>;

/// Multi-head attention (Vaswani et al. 2017, 3.2.2): queries, keys and values are projected, every
/// head attends, the concatenation is projected back. Multi-query (Shazeer 2019) and grouped-query
/// (Ainslie et al. 2023) attention are fewer key/value heads; n_heads * d_head need not be d_model.
class Attention {
 public:
  struct Settings {
    int64_t d_model;
    int64_t n_heads, n_kv_heads;
    int64_t d_head, d_value;
    bool bias = true;
    float dropout = 0.0f;  // on the weights
  };
  /// Parameters are `name`.q_proj, k_proj, v_proj, o_proj.
  Attention(Parameters& parameters, const std::string& name, Settings settings, AttentionSite site);

  /// The keys and values of x [Nk, D]: in self-attention of the sequence itself, in cross-attention
  /// of the encoder's output, computed once and kept.
  KeysValues keys_values(Context& context, const Tensor& x) const;

  /// Lets the queries of x [Nq, D] attend to `offered`; the result is [Nq, D].
  Tensor attend(Context& context, const Tensor& x, const KeysValues& offered, const Spans& spans,
                bool causal) const;

 private:
  Settings settings_;
  AttentionSite site_;
  Linear q_proj_, k_proj_, v_proj_, o_proj_;
};

}  // namespace heed::nn
