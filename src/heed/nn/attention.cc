#include "heed/nn/attention.h"

#include <cmath>

#include "heed/ops/attention.h"
#include "heed/ops/dropout.h"
#include "heed/ops/rotary.h"

namespace heed::nn {

kernels::AttentionOptions Attention::Settings::options(int64_t kv_heads) const {
  return {.n_heads = n_heads,
          .n_kv_heads = kv_heads,
          .scale = (scale != 0.0f ? scale : 1.0f / std::sqrt(static_cast<float>(head_dim))) /
                   scale_divisor,
          .causal = causal,
          .window = window,
          .soft_cap = soft_cap,
          .dropout = dropout};
}

namespace {

/// The gain of the initial query weights. If scores are not divided by sqrt(d) (T5), the weights
/// are divided instead, so that the initial softmax is not saturated.
float initial_query_gain(const Attention::Settings& s) {
  return s.scale == 0.0f ? 1.0f : 1.0f / (s.scale * std::sqrt(static_cast<float>(s.head_dim)));
}

WeightRole key_value_role(AttentionSite site) {
  return site.kind == AttentionSite::Kind::cross ? WeightRole::cross_key_value
                                                 : WeightRole::key_value;
}

}  // namespace

Attention::Attention(Parameters& parameters, const std::string& name, Settings s,
                     AttentionSite site)
    : settings_(s),
      parts_(parameters.parts()),
      site_(site),
      q_proj_(parameters, name + ".q_proj",
              {s.d_model, s.n_heads * s.head_dim, s.qkv_bias, initial_query_gain(s)},
              WeightRole::query),
      k_proj_(parameters, name + ".k_proj", {s.d_model, s.n_kv_heads * s.head_dim, s.qkv_bias},
              key_value_role(site)),
      v_proj_(parameters, name + ".v_proj", {s.d_model, s.n_kv_heads * s.v_head_dim, s.qkv_bias},
              key_value_role(site)),
      o_proj_(parameters, name + ".o_proj", {s.n_heads * s.v_head_dim, s.d_model, s.o_bias},
              WeightRole::output) {
  if (s.sinks)
    sinks_ = &parameters.create(name + ".sinks", {s.n_heads}, Initializer::zeros(),
                                WeightRole::attention_sinks);
  const DisentangledConfig& distances = s.disentangled;
  const Linear::Sizes sizes{s.d_model, s.n_heads * s.head_dim};
  if (distances.c2p && !distances.shared_projections)
    position_k_proj_.emplace(parameters, name + ".position_k_proj", sizes, WeightRole::key_value);
  if (distances.p2c && !distances.shared_projections)
    position_q_proj_.emplace(parameters, name + ".position_q_proj", sizes, WeightRole::query);
  if (!s.qk_norm) return;
  q_norm_.emplace(parameters, name + ".q_norm", qk_norm(s.n_heads));
  k_norm_.emplace(parameters, name + ".k_norm", qk_norm(s.n_kv_heads));
}

Norm::Settings Attention::qk_norm(int64_t heads) const {
  return {
      .kind = NormKind::rms,
      .d_model = settings_.qk_norm->across_heads ? heads * settings_.head_dim : settings_.head_dim,
      .epsilon = settings_.qk_norm->epsilon,
      .unit_offset = settings_.qk_norm->unit_offset};
}

Tensor Attention::normalise_and_rotate(Context& context, Tensor x, const std::optional<Norm>& norm,
                                       int64_t heads, const PositionEncoding& positions) const {
  if (norm) {
    const int64_t width = settings_.qk_norm->across_heads ? x.cols() : settings_.head_dim;
    x = norm->forward(context, x.reshaped({x.elements() / width, width}))
            .reshaped({x.rows(), x.cols()});
  }
  if (!positions.rotation.cos.defined()) return x;
  return ops::rotate(context, x, positions.rotation,
                     {.n_heads = heads, .layout = settings_.rotary_layout});
}

KeysValues Attention::keys_values(Context& context, const Tensor& x,
                                  const PositionEncoding& positions) const {
  const Tensor keys = k_proj_.forward(context, x);  // [Nk, G d]
  return {.keys = normalise_and_rotate(context, keys, k_norm_, settings_.n_kv_heads, positions),
          .values = v_proj_.forward(context, x)};  // [Nk, G dv]
}

Tensor Attention::attend(Context& context, const Tensor& x, const KeysValues& kv,
                         const Spans& spans, const PositionEncoding& positions) const {
  return attend_and_project(context,
                            normalise_and_rotate(context, q_proj_.forward(context, x), q_norm_,
                                                 settings_.n_heads, positions),
                            kv, spans, positions);
}

Tensor Attention::attend_self(Context& context, const Tensor& x, KeyValueCache& cache,
                              const SelfSpans& spans, const PositionEncoding& positions) const {
  const auto [keys, values, queries] =
      ops::linears(context, x, {k_proj_.map(), v_proj_.map(), q_proj_.map()});
  const KeysValues own = cache.extend(
      {.keys = normalise_and_rotate(context, keys, k_norm_, settings_.n_kv_heads, positions),
       .values = values},
      *spans.spans);
  return attend_and_project(
      context, normalise_and_rotate(context, queries, q_norm_, settings_.n_heads, positions), own,
      spans.spans, positions);
}

Tensor Attention::pair_bias(Context& context, const Tensor& queries, const Tensor& keys,
                            const RelativeStates& relative) const {
  const DisentangledConfig& distances = settings_.disentangled;
  if (!distances.present()) return {};
  const Tensor states = ops::dropout(context, relative.states, settings_.position_dropout);
  Tensor position_keys, position_queries;
  if (distances.c2p)
    position_keys = (position_k_proj_ ? *position_k_proj_ : k_proj_).forward(context, states);
  if (distances.p2c)
    position_queries = (position_q_proj_ ? *position_q_proj_ : q_proj_).forward(context, states);
  return ops::disentangled_bias(context, {.q = queries,
                                          .k = keys,
                                          .position_keys = position_keys,
                                          .position_queries = position_queries,
                                          .offsets = relative.offsets,
                                          .rows = relative.rows,
                                          .n_heads = settings_.n_heads,
                                          .scale = settings_.options(settings_.n_kv_heads).scale});
}

/// queries [Nq, H d].
Tensor Attention::attend_and_project(Context& context, const Tensor& queries, const KeysValues& kv,
                                     const Spans& spans, const PositionEncoding& positions) const {
  const Tensor heads = ops::attention(
      context, {.q = queries,
                .k = kv.keys,
                .v = kv.values,
                .relative_bias = positions.relative_bias,
                .pair_bias = pair_bias(context, queries, kv.keys, positions.relative),
                .sinks = sinks_,
                .spans = spans,
                .options = settings_.options(settings_.n_kv_heads),
                .site = site_});                               // [Nq, H dv]
  return all_reduce(parts_, o_proj_.forward(context, heads));  // [Nq, D]
}

}  // namespace heed::nn
