#include "heed/nn/attention.h"

#include <cmath>

#include "heed/ops/attention.h"

namespace heed::nn {

Attention::Attention(Parameters& parameters, const std::string& name, Settings s,
                     AttentionSite site)
    : settings_(s),
      site_(site),
      q_proj_(parameters, name + ".q_proj", {s.d_model, s.n_heads * s.d_head, s.bias}),
      k_proj_(parameters, name + ".k_proj", {s.d_model, s.n_kv_heads * s.d_head, s.bias}),
      v_proj_(parameters, name + ".v_proj", {s.d_model, s.n_kv_heads * s.d_value, s.bias}),
      o_proj_(parameters, name + ".o_proj", {s.n_heads * s.d_value, s.d_model, s.bias}) {}

KeysValues Attention::keys_values(Context& context, const Tensor& x) const {
  return {.keys = k_proj_.forward(context, x),     // [Nk, G d]
          .values = v_proj_.forward(context, x)};  // [Nk, G dv]
}

Tensor Attention::attend(Context& context, const Tensor& x, const KeysValues& offered,
                         const Spans& spans, bool causal) const {
  const Tensor queries = q_proj_.forward(context, x);  // [Nq, H d]
  const Tensor heads = ops::attention(
      context, {.q = queries,
                .k = offered.keys,
                .v = offered.values,
                .spans = spans,
                .options = {.n_heads = settings_.n_heads,
                            .n_kv_heads = settings_.n_kv_heads,
                            .scale = 1.0f / std::sqrt(static_cast<float>(settings_.d_head)),
                            .causal = causal,
                            .dropout = settings_.dropout},
                .site = site_});           // [Nq, H dv]
  return o_proj_.forward(context, heads);  // [Nq, D]
}

}  // namespace heed::nn
