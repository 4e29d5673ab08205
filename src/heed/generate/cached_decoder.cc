#include "heed/generate/cached_decoder.h"

#include <algorithm>
#include <limits>

#include "heed/base/error.h"
#include "heed/generate/logits.h"
#include "heed/ops/rows.h"

namespace heed::generate {
namespace {

/// Clears the spans, or replaces them if the last pass still holds them.
void clear(std::shared_ptr<kernels::AttentionSpans>& spans) {
  if (!spans || spans.use_count() > 1) spans = std::make_shared<kernels::AttentionSpans>();
  spans->q_offsets.assign(1, 0);
  spans->kv_begin.clear();
  spans->kv_end.clear();
  spans->kv_rows.clear();
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
                                        nn::KeyValueCache(nn::KeyValueCache::Mode::keep, dtype));
}

bool computes_in_int8(const model::Transformer& model) {
  return std::ranges::any_of(model.parameters().all(),
                             [](const Parameter& p) { return p.packed.multiplies_integers(); });
}

DType default_cache_dtype(const model::Transformer& model, DType dtype) {
  return computes_in_int8(model) ? DType::bf16 : dtype;
}

model::Memory in_cache_dtype(DType dtype, const model::Transformer& model, model::Memory memory) {
  std::vector<nn::KeyValueCache> caches = make_caches(model, dtype);
  for (size_t layer = 0; layer < memory.per_layer.size(); ++layer)
    if (memory.per_layer[layer].keys.dtype() != dtype)
      memory.per_layer[layer] = caches[layer].extend(memory.per_layer[layer]);
  return memory;
}

CachedDecoder::CachedDecoder(const model::Transformer& model, DType dtype,
                             const model::Memory& memory, Cache cache)
    : model_(model),
      memory_(memory),
      context_{.dtype = dtype},
      caches_(make_caches(model, cache.dtype)) {
  for (nn::KeyValueCache& layer : caches_) layer.expect(cache.expected_rows);
}

void CachedDecoder::begin_pass() {
  pass_.input.clear();
  pass_.positions.clear();
  pass_.last_rows.clear();
  clear(pass_.own);
  clear(pass_.memory);
}

/// Adds the new tokens of a sequence to the pass. Their keys and values become the next cache rows.
void CachedDecoder::add(const DecodeInput& input) {
  require(input.tokens.size() < static_cast<size_t>(std::numeric_limits<int32_t>::max() - rows_),
          "the sequences of one batch have more than 2^31 tokens");
  for (const int32_t token : input.tokens) {
    pass_.input.push_back(token);
    pass_.positions.push_back(static_cast<int32_t>(input.cache_rows.size()));
    input.cache_rows.push_back(rows_++);
  }
  const auto end = static_cast<int32_t>(pass_.input.size());
  pass_.last_rows.push_back(end - 1);
  kernels::AttentionSpans& own = *pass_.own;
  own.kv_begin.push_back(static_cast<int32_t>(own.kv_rows.size()));
  // insert() alone would grow to the exact size and so allocate at every step.
  const size_t rows = own.kv_rows.size() + input.cache_rows.size();
  if (rows > own.kv_rows.capacity()) own.kv_rows.reserve(2 * rows);
  own.kv_rows.insert(own.kv_rows.end(), input.cache_rows.begin(), input.cache_rows.end());
  own.kv_end.push_back(static_cast<int32_t>(own.kv_rows.size()));
  own.q_offsets.push_back(end);
  if (!model_.has_encoder()) return;
  const auto source = static_cast<size_t>(input.source);
  pass_.memory->q_offsets.push_back(end);
  pass_.memory->kv_begin.push_back(memory_.offsets[source]);
  pass_.memory->kv_end.push_back(memory_.offsets[source + 1]);
}

Tensor CachedDecoder::decode(std::span<const DecodeInput> inputs) {
  begin_pass();
  for (const DecodeInput& input : inputs) add(input);
  Tensor states = model_.decode(context_, pass_.input, memory_,
                                {pass_.positions, pass_.own, pass_.memory, caches_});  // [N, D]
  if (pass_.last_rows.size() < pass_.input.size())
    states = ops::gather_rows(context_, states, pass_.last_rows);
  return checked_logits(model_, context_, states);  // [inputs, V]
}

}  // namespace heed::generate
