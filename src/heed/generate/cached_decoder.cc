#include "heed/generate/cached_decoder.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/data/batch.h"
#include "heed/ops/rows.h"

namespace heed::generate {
namespace {

/// Clears the spans, or replaces them if the last pass still holds them.
void clear(std::shared_ptr<kernels::AttentionMetadata>& spans) {
  if (!spans || spans.use_count() > 1) spans = std::make_shared<kernels::AttentionMetadata>();
  spans->q_offsets.assign(1, 0);
  spans->kv_begin.clear();
  spans->kv_end.clear();
  spans->kv_rows.clear();
  spans->kept.forget();
}

/// Adds the keys `rows` of one sequence, whose queries end before row `q_end` of the pass.
void add_sequence(kernels::AttentionMetadata& spans, std::span<const int32_t> rows, int32_t q_end) {
  spans.kv_begin.push_back(static_cast<int32_t>(spans.kv_rows.size()));
  // insert() alone would grow to the exact size and so allocate at every step.
  const size_t size = spans.kv_rows.size() + rows.size();
  if (size > spans.kv_rows.capacity()) spans.kv_rows.reserve(2 * size);
  spans.kv_rows.insert(spans.kv_rows.end(), rows.begin(), rows.end());
  spans.kv_end.push_back(static_cast<int32_t>(spans.kv_rows.size()));
  spans.q_offsets.push_back(q_end);
}

}  // namespace

std::vector<nn::KeyValueCache> make_caches(const model::Transformer& model,
                                           std::optional<DType> dtype) {
  const model::ModelConfig& config = model.config();
  if (dtype && !is_plain(*dtype)) {
    require(!config.latent.present(),
            "an int8 kv cache needs keys and values; this model has latent attention and caches "
            "latents");
    const int64_t block = block_elements(*dtype);
    require(config.head_dim % block == 0 && config.v_head_dim % block == 0,
            "an int8 kv cache needs head dimensions that are multiples of {}; this model's keys "
            "have {}, its values {}",
            block, config.head_dim, config.v_head_dim);
  }
  return std::vector<nn::KeyValueCache>(static_cast<size_t>(config.decoder_layers),
                                        nn::KeyValueCache(nn::KeyValueCache::Mode::cache, dtype));
}

bool computes_in_int8(const model::Transformer& model) {
  return std::ranges::any_of(model.parameters().all(),
                             [](const Parameter& p) { return p.packed.multiplies_integers(); });
}

DType default_cache_dtype(const model::Transformer& model, DType dtype) {
  return computes_in_int8(model) ? DType::bf16 : dtype;
}

CachedDecoder::CachedDecoder(const model::Transformer& model, DType dtype, CacheOptions options)
    : model_(model),
      context_{.dtype = dtype},
      caches_(make_caches(model, options.dtype)),
      shortlist_head_(model) {
  for (nn::KeyValueCache& layer : caches_) layer.reserve(options.expected_rows);
  if (model.device()) graphs_ = model.device()->graph_runner();
  if (!model.has_encoder()) return;
  memory_caches_ = make_caches(model, options.memory_dtype);
  memory_.per_layer.resize(memory_caches_.size());
}

void CachedDecoder::adapt(int64_t begin, int64_t end, std::span<const ScaledAdapter> adapters) {
  if (adapters.empty()) return;
  std::vector<AdaptedRows>& ranges = pass_.adapters;
  if (!ranges.empty() && ranges.back().end == begin &&
      std::ranges::equal(ranges.back().adapters, adapters))
    ranges.back().end = end;
  else
    ranges.push_back({begin, end, adapters});
}

/// Without a range, the context would have the adapters that are attached to the model.
void CachedDecoder::use_adapters() {
  if (pass_.adapters.empty() && !model_.attached().empty()) pass_.adapters.push_back({0, 0, {}});
  context_.adapters = pass_.adapters;
}

void CachedDecoder::encode(std::span<const EncodeInput> inputs) {
  std::vector<int32_t> ids, offsets{0};
  pass_.adapters.clear();
  for (const EncodeInput& input : inputs) {
    data::append_sequence(input.tokens, ids, offsets);
    adapt(offsets[offsets.size() - 2], offsets.back(), input.adapters);
  }
  use_adapters();
  const DeviceScope scope(model_.device());
  const model::Memory fresh = model_.encode(context_, {ids, offsets});
  kernels::AttentionMetadata spans = kernels::AttentionMetadata::self(offsets);
  try {
    for (size_t i = 0; i < ids.size(); ++i) spans.kv_rows.push_back(memory_rows_.acquire());
    for (size_t layer = 0; layer < memory_caches_.size(); ++layer)
      memory_.per_layer[layer] = memory_caches_[layer].extend(fresh.per_layer[layer], spans);
  } catch (...) {
    memory_rows_.release(spans.kv_rows);
    throw;
  }
  for (size_t b = 0; b < inputs.size(); ++b)
    inputs[b].memory_rows.assign(spans.kv_rows.begin() + offsets[b],
                                 spans.kv_rows.begin() + offsets[b + 1]);
}

void CachedDecoder::begin_pass() {
  pass_.input.clear();
  pass_.positions.clear();
  pass_.logit_rows.clear();
  pass_.prompts = 0;
  pass_.adapters.clear();
  pass_.shortlists.clear();
  cross_attention_.begin_pass();
  clear(pass_.own);
  clear(pass_.memory);
}

/// Adds the new tokens of a sequence to the pass.
void CachedDecoder::add(const DecodeInput& input) {
  for (const int32_t token : input.tokens) {
    pass_.input.push_back(token);
    pass_.positions.push_back(static_cast<int32_t>(input.cache_rows.size()));
    input.cache_rows.push_back(rows_.acquire());
  }
  const auto end = static_cast<int32_t>(pass_.input.size());
  adapt(end - std::ssize(input.tokens), end, input.adapters);
  for (int64_t row = end - input.logit_rows; row < end; ++row)
    pass_.logit_rows.push_back(static_cast<int32_t>(row));
  if (input.logit_rows > 0) add_shortlist(input);
  if (!input.generated) ++pass_.prompts;
  add_sequence(*pass_.own, input.cache_rows, end);
  if (model_.has_encoder()) add_memory(input.memory_rows, end);
  if (input.cross_attention && input.logit_rows > 0)
    cross_attention_.add(end - static_cast<int32_t>(input.logit_rows),
                         std::span(input.cache_rows).last(static_cast<size_t>(input.logit_rows)),
                         input.memory_rows);
}

/// Rows of one shortlist are one part.
void CachedDecoder::add_shortlist(const DecodeInput& input) {
  std::vector<ShortlistHead::Part>& parts = pass_.shortlists;
  if (parts.empty() || parts.back().tokens != input.shortlist)
    parts.push_back({.tokens = input.shortlist});
  parts.back().rows += input.logit_rows;
}

Tensor CachedDecoder::listed_logits(int64_t begin, int64_t end) const {
  auto part = listed_logits_.begin();
  for (; begin >= part->rows(); ++part) {
    begin -= part->rows();
    end -= part->rows();
  }
  return part->row_slice(begin, end);
}

/// Sequences that read the same memory share its keys, which attention then reads once for all.
void CachedDecoder::add_memory(std::span<const int32_t> rows, int32_t q_end) {
  kernels::AttentionMetadata& memory = *pass_.memory;
  const bool shared =
      !memory.kv_end.empty() &&
      std::ranges::equal(
          rows, std::span(memory.kv_rows)
                    .subspan(static_cast<size_t>(memory.kv_begin.back()),
                             static_cast<size_t>(memory.kv_end.back() - memory.kv_begin.back())));
  if (!shared) return add_sequence(memory, rows, q_end);
  memory.kv_begin.push_back(memory.kv_begin.back());
  memory.kv_end.push_back(memory.kv_end.back());
  memory.q_offsets.push_back(q_end);
}

/// Passes over generated tokens are many and short: a device starts their kernels as one.
Tensor CachedDecoder::run_pass() {
  const DeviceScope scope(model_.device());
  use_adapters();
  if (!graphs_ || pass_.prompts > 0 || cross_attention_.observes_any()) return forward();
  // Copies of a cache that grows would not be part of a graph.
  for (nn::KeyValueCache& layer : caches_) layer.make_room(rows_.rows());
  Tensor logits;
  graphs_->run(std::ssize(pass_.input), [&] { logits = forward(); });
  return logits;
}

/// The logits of the pass.
Tensor CachedDecoder::forward() {
  Context context = context_;
  if (cross_attention_.observes_any())
    context.observe_attention = [this](AttentionSite site, const kernels::AttentionForward& in) {
      cross_attention_.add_weights(site, in);
    };
  Tensor states = model_.decode(
      context, pass_.input, memory_,
      {pass_.positions, {pass_.own, pass_.prompts}, pass_.memory, caches_});  // [N, D]
  if (pass_.logit_rows.empty()) return {};
  if (pass_.logit_rows.size() < pass_.input.size())
    states = ops::gather_rows(context_, states, pass_.logit_rows);
  if (!uses_shortlists_) return model_.logits(context_, states);  // [M, V]
  listed_logits_ = shortlist_head_.logits(context_, states);
  return {};
}

void CachedDecoder::undo(std::span<const DecodeInput> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<int32_t>& rows = inputs[i].cache_rows;
    rows_.release(std::span(rows).subspan(sizes_before_[i]));
    rows.resize(sizes_before_[i]);
  }
}

Tensor CachedDecoder::decode(std::span<const DecodeInput> inputs) {
  begin_pass();
  sizes_before_.clear();
  for (const DecodeInput& input : inputs) sizes_before_.push_back(input.cache_rows.size());
  try {
    for (const DecodeInput& input : inputs) add(input);
    uses_shortlists_ = shortlist_head_.choose(pass_.shortlists);
    return run_pass();
  } catch (...) {
    undo(inputs);
    throw;
  }
}

}  // namespace heed::generate
