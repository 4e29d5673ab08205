#include "heed/nn/latent_attention.h"

#include "heed/ops/attention.h"
#include "heed/ops/columns.h"
#include "heed/ops/heads_linear.h"
#include "heed/ops/rotary.h"

namespace heed::nn {
namespace {

/// The reference implementation gives these norms an epsilon of their own.
Norm::Settings of_width(Norm::Settings norm, int64_t width) {
  norm.d_model = width;
  norm.epsilon = 1e-6f;
  return norm;
}

}  // namespace

LatentAttention::LatentAttention(Parameters& parameters, const std::string& name, Settings s,
                                 AttentionSite site)
    : settings_(s),
      site_(site),
      kv_a_proj_(parameters, name + ".kv_a_proj",
                 {s.attention.d_model, s.dims.kv_lora_rank + s.dims.qk_rope_head_dim,
                  s.attention.qkv_bias},
                 WeightRole::key_value),
      kv_a_norm_(parameters, name + ".kv_a_norm", of_width(s.norm, s.dims.kv_lora_rank)),
      kv_b_proj_(parameters, name + ".kv_b_proj",
                 {s.dims.kv_lora_rank,
                  s.attention.n_heads * (qk_nope_head_dim() + s.attention.v_head_dim), false},
                 WeightRole::latent_key_value),
      o_proj_(
          parameters, name + ".o_proj",
          {s.attention.n_heads * s.attention.v_head_dim, s.attention.d_model, s.attention.o_bias},
          WeightRole::output) {
  const int64_t width = s.attention.n_heads * s.attention.head_dim;
  if (s.dims.q_lora_rank == 0) {
    q_proj_.emplace(parameters, name + ".q_proj", Linear::Sizes{s.attention.d_model, width, false},
                    WeightRole::query);
    return;
  }
  q_a_proj_.emplace(parameters, name + ".q_a_proj",
                    Linear::Sizes{s.attention.d_model, s.dims.q_lora_rank, s.attention.qkv_bias},
                    WeightRole::query);
  q_a_norm_.emplace(parameters, name + ".q_a_norm", of_width(s.norm, s.dims.q_lora_rank));
  q_b_proj_.emplace(parameters, name + ".q_b_proj", Linear::Sizes{s.dims.q_lora_rank, width, false},
                    WeightRole::query);
}

KeysValues LatentAttention::keys_values(Context& context, const Tensor& x,
                                        const PositionEncoding& positions) const {
  const int64_t rank = settings_.dims.kv_lora_rank;
  const Tensor both = kv_a_proj_.forward(context, x);  // [Nk, r + dr]
  const Tensor latent =
      kv_a_norm_.forward(context, ops::slice_columns(context, both, 0, rank));  // [Nk, r]
  const Tensor rotary =
      ops::rotate(context, ops::slice_columns(context, both, rank, both.cols()), positions.rotation,
                  {.layout = settings_.attention.rotary_layout});  // [Nk, dr]
  return {.keys = ops::concat_columns(context, latent, rotary), .values = {}};
}

Tensor LatentAttention::queries(Context& context, const Tensor& x,
                                const PositionEncoding& positions) const {
  const Tensor q = q_proj_
                       ? q_proj_->forward(context, x)
                       : q_b_proj_->forward(
                             context, q_a_norm_->forward(context, q_a_proj_->forward(context, x)));
  return ops::rotate(context, q, positions.rotation,
                     {.n_heads = settings_.attention.n_heads,
                      .layout = settings_.attention.rotary_layout,
                      .begin = qk_nope_head_dim()});  // [Nq, H d]
}

Tensor LatentAttention::attend(Context& context, const Tensor& x, const KeysValues& kv,
                               const Spans& spans, const PositionEncoding& positions) const {
  const Tensor q = queries(context, x, positions);
  // With nothing cached, expanding the latents costs a product per token; with a long cache, one
  // per cached token and step.
  const bool nothing_cached = kv.keys.rows() == x.rows();
  const Tensor heads = nothing_cached ? attend_expanded(context, q, kv.keys, spans)
                                      : attend_absorbed(context, q, kv.keys, spans);
  return o_proj_.forward(context, heads);  // [Nq, D]
}

Tensor LatentAttention::attend_self(Context& context, const Tensor& x, KeyValueCache& cache,
                                    const Spans& spans, const PositionEncoding& positions) const {
  return attend(context, x, cache.extend(keys_values(context, x, positions)), spans, positions);
}

Tensor LatentAttention::attend_expanded(Context& context, const Tensor& queries, const Tensor& kv,
                                        const Spans& spans) const {
  const int64_t rank = settings_.dims.kv_lora_rank, heads = settings_.attention.n_heads;
  const Tensor latent = ops::slice_columns(context, kv, 0, rank);
  const Tensor rotary = ops::slice_columns(context, kv, rank, kv.cols());
  const ops::HeadParts parts =
      ops::split_heads(context, kv_b_proj_.forward(context, latent), heads, qk_nope_head_dim());
  const Tensor keys = ops::join_shared(context, parts.first, rotary, heads);  // [Nk, H d]
  return ops::attention(context, {.q = queries,
                                  .k = keys,
                                  .v = parts.second,
                                  .spans = spans,
                                  .options = settings_.attention.options(heads),
                                  .site = site_});  // [Nq, H dv]
}

Tensor LatentAttention::attend_absorbed(Context& context, const Tensor& queries, const Tensor& kv,
                                        const Spans& spans) const {
  const int64_t rank = settings_.dims.kv_lora_rank, heads = settings_.attention.n_heads;
  const int64_t dv = settings_.attention.v_head_dim;
  const ops::HeadParts parts = ops::split_heads(context, queries, heads, qk_nope_head_dim());
  const ops::HeadMatrices to_keys{.weight = kv_b_proj_.weight(),
                                  .n_heads = heads,
                                  .stride = qk_nope_head_dim() + dv,
                                  .begin = 0,
                                  .rows = qk_nope_head_dim()};
  const Tensor latent_queries =
      ops::join_heads(context, ops::heads_linear(context, parts.first, to_keys), parts.second,
                      heads);  // [Nq, H (r + dr)]
  // The latents are keys and values at once; the result's rotary columns are dropped.
  const Tensor mixed = ops::attention(context, {.q = latent_queries,
                                                .k = kv,
                                                .v = kv,
                                                .spans = spans,
                                                .options = settings_.attention.options(1),
                                                .site = site_});  // [Nq, H (r + dr)]
  const Tensor latents = ops::split_heads(context, mixed, heads, rank).first;
  const ops::HeadMatrices to_values{.weight = kv_b_proj_.weight(),
                                    .n_heads = heads,
                                    .stride = qk_nope_head_dim() + dv,
                                    .begin = qk_nope_head_dim(),
                                    .rows = dv,
                                    .transposed = true};
  return ops::heads_linear(context, latents, to_values);  // [Nq, H dv]
}

}  // namespace heed::nn
