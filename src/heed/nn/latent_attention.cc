#include "heed/nn/latent_attention.h"

#include "heed/ops/attention.h"
#include "heed/ops/columns.h"
#include "heed/ops/heads_linear.h"
#include "heed/ops/rotary.h"
#include "heed/ops/rows.h"

namespace heed::nn {
namespace {

/// The reference implementation gives these norms an epsilon of their own.
Norm::Settings of_width(Norm::Settings norm, int64_t width) {
  norm.d_model = width;
  norm.epsilon = 1e-6f;
  return norm;
}

/// The sequences [begin, end).
Spans part_of(const kernels::AttentionMetadata& all, int64_t begin, int64_t end) {
  kernels::AttentionMetadata part{{0}, {}, {}, {}};
  for (auto b = static_cast<size_t>(begin); b < static_cast<size_t>(end); ++b) {
    part.q_offsets.push_back(part.q_offsets.back() + all.q_offsets[b + 1] - all.q_offsets[b]);
    part.kv_begin.push_back(static_cast<int32_t>(part.kv_rows.size()));
    for (int32_t key = all.kv_begin[b]; key < all.kv_end[b]; ++key)
      part.kv_rows.push_back(all.kv_rows.empty() ? key : all.kv_rows[static_cast<size_t>(key)]);
    part.kv_end.push_back(static_cast<int32_t>(part.kv_rows.size()));
  }
  return std::make_shared<const kernels::AttentionMetadata>(std::move(part));
}

/// a [M, D] above b [N, D]: [M + N, D]. Not differentiable: training has no generated tokens.
Tensor stacked(const Tensor& a, const Tensor& b) {
  Tensor both = Tensor::empty({a.rows() + b.rows(), a.cols()}, a.dtype());
  both.row_slice(0, a.rows()).assign(a);
  both.row_slice(a.rows(), both.rows()).assign(b);
  return both;
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

KeysValues LatentAttention::latents(Context& context, const Tensor& x,
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

Tensor LatentAttention::attend_self(Context& context, const Tensor& x, KeyValueCache& cache,
                                    const SelfSpans& spans,
                                    const PositionEncoding& positions) const {
  const Tensor q = queries(context, x, positions);
  const Tensor cached = cache.extend(latents(context, x, positions), *spans.spans).keys;
  return o_proj_.forward(context, attend_both(context, q, cached, spans));  // [N, D]
}

Tensor LatentAttention::attend_both(Context& context, const Tensor& queries, const Tensor& cached,
                                    const SelfSpans& spans) const {
  const int64_t sequences = spans.spans->sequences();
  if (spans.prompts == sequences) return attend_expanded(context, queries, cached, spans.spans);
  if (spans.prompts == 0) return attend_absorbed(context, queries, cached, spans.spans);
  const int64_t rows = spans.spans->q_offsets[static_cast<size_t>(spans.prompts)];
  return stacked(attend_expanded(context, queries.row_slice(0, rows), cached,
                                 part_of(*spans.spans, 0, spans.prompts)),
                 attend_absorbed(context, queries.row_slice(rows, queries.rows()), cached,
                                 part_of(*spans.spans, spans.prompts, sequences)));
}

Tensor LatentAttention::attend_expanded(Context& context, const Tensor& queries,
                                        const Tensor& cached, const Spans& spans) const {
  const int64_t rank = settings_.dims.kv_lora_rank, heads = settings_.attention.n_heads;
  Spans own = spans;
  Tensor all = cached;  // the latents of the sequences' keys, in their order
  if (!spans->kv_rows.empty()) {
    all = ops::gather_rows(context, cached, spans->kv_rows);
    own = std::make_shared<const kernels::AttentionMetadata>(
        kernels::AttentionMetadata{.q_offsets = spans->q_offsets,
                                   .kv_begin = spans->kv_begin,
                                   .kv_end = spans->kv_end,
                                   .kv_rows = {}});
  }
  const Tensor latent = ops::slice_columns(context, all, 0, rank);
  const Tensor rotary = ops::slice_columns(context, all, rank, all.cols());
  const ops::HeadParts parts =
      ops::split_heads(context, kv_b_proj_.forward(context, latent), heads, qk_nope_head_dim());
  const Tensor keys = ops::join_shared(context, parts.first, rotary, heads);  // [Nk, H d]
  return ops::attention(context, {.q = queries,
                                  .k = keys,
                                  .v = parts.second,
                                  .spans = own,
                                  .options = settings_.attention.options(heads),
                                  .site = site_});  // [Nq, H dv]
}

Tensor LatentAttention::attend_absorbed(Context& context, const Tensor& queries,
                                        const Tensor& cached, const Spans& spans) const {
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
                                                .k = cached,
                                                .v = cached,
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
