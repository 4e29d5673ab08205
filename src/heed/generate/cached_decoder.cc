#include "heed/generate/cached_decoder.h"

#include <algorithm>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/argmax.h"
#include "heed/ops/rows.h"

namespace heed::generate {
namespace {

/// Spans that nobody else holds, without sequences.
void clear(std::shared_ptr<kernels::AttentionSpans>& spans) {
  if (!spans || spans.use_count() > 1) spans = std::make_shared<kernels::AttentionSpans>();
  spans->q_offsets.assign(1, 0);
  spans->kv_begin.clear();
  spans->kv_end.clear();
  spans->kv_rows.clear();
}

void check_numbers(const Tensor& logits) {
  const int64_t classes = logits.cols();
  const float* values = logits.data<float>();
  parallel_for(logits.rows(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      require(kernels::argmax({values + row * classes, static_cast<size_t>(classes)}) >= 0,
              "the model's output is not a number: its weights are damaged");
  });
}

}  // namespace

std::vector<nn::KeyValueCache> make_caches(const model::Transformer& model,
                                           std::optional<DType> dtype) {
  const model::ModelConfig& config = model.config();
  if (dtype && !is_plain(*dtype)) {
    require(!config.latent.present(),
            "a cache of integers is for keys and values; this model keeps latents, from which it "
            "rebuilds them");
    const int64_t block = block_elements(*dtype);
    require(config.d_head % block == 0 && config.d_value % block == 0,
            "a cache of integers wants heads of whole blocks of {} numbers; this model's keys have "
            "{}, its values {}",
            block, config.d_head, config.d_value);
  }
  return std::vector<nn::KeyValueCache>(static_cast<size_t>(config.decoder_layers),
                                        nn::KeyValueCache(nn::KeyValueCache::Mode::keep, dtype));
}

bool multiplies_integers(const model::Transformer& model) {
  return std::ranges::any_of(model.parameters().all(),
                             [](const Parameter& p) { return p.packed.multiplies_integers(); });
}

DType suitable_cache(const model::Transformer& model, DType dtype) {
  return multiplies_integers(model) ? DType::bf16 : dtype;
}

model::Memory kept_in(DType dtype, const model::Transformer& model, model::Memory memory) {
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

/// Adds a text's new tokens, whose keys and values become the next rows.
void CachedDecoder::add(const Feed& feed) {
  require(feed.tokens.size() < static_cast<size_t>(std::numeric_limits<int32_t>::max() - rows_),
          "the texts of one batch are too long");
  for (const int32_t token : feed.tokens) {
    pass_.input.push_back(token);
    pass_.positions.push_back(static_cast<int32_t>(feed.cache_rows.size()));
    feed.cache_rows.push_back(rows_++);
  }
  const auto end = static_cast<int32_t>(pass_.input.size());
  pass_.last_rows.push_back(end - 1);
  kernels::AttentionSpans& own = *pass_.own;
  own.kv_begin.push_back(static_cast<int32_t>(own.kv_rows.size()));
  // Emptied before, it would grow to just what is inserted: at every step.
  const size_t rows = own.kv_rows.size() + feed.cache_rows.size();
  if (rows > own.kv_rows.capacity()) own.kv_rows.reserve(2 * rows);
  own.kv_rows.insert(own.kv_rows.end(), feed.cache_rows.begin(), feed.cache_rows.end());
  own.kv_end.push_back(static_cast<int32_t>(own.kv_rows.size()));
  own.q_offsets.push_back(end);
  if (!model_.has_encoder()) return;
  const auto source = static_cast<size_t>(feed.source);
  pass_.memory->q_offsets.push_back(end);
  pass_.memory->kv_begin.push_back(memory_.offsets[source]);
  pass_.memory->kv_end.push_back(memory_.offsets[source + 1]);
}

Tensor CachedDecoder::feed(std::span<const Feed> feeds) {
  begin_pass();
  for (const Feed& feed : feeds) add(feed);
  Tensor states = model_.decode(context_, pass_.input, memory_,
                                {pass_.positions, pass_.own, pass_.memory, caches_});  // [N, D]
  if (pass_.last_rows.size() < pass_.input.size())
    states = ops::gather_rows(context_, states, pass_.last_rows);
  Tensor logits = model_.logits(context_, states);  // [feeds, V]
  check_numbers(logits);
  return logits;
}

}  // namespace heed::generate
