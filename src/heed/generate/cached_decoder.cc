#include "heed/generate/cached_decoder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "heed/base/error.h"
#include "heed/ops/rows.h"

namespace heed::generate {
namespace {

/// The input of one pass: the new tokens of all texts, end to end.
struct Pass {
  std::vector<int32_t> input, positions;
  std::vector<int32_t> last_rows;  // of each text
  kernels::AttentionSpans own, memory;
};

/// Adds a text's new tokens, whose keys and values become the rows from `row` on.
void add(Pass& pass, const CachedDecoder::Feed& feed, int32_t row) {
  auto& rows = pass.own.kv_rows;
  for (const int32_t token : feed.tokens) {
    pass.input.push_back(token);
    pass.positions.push_back(static_cast<int32_t>(feed.cache_rows.size()));
    feed.cache_rows.push_back(row++);
  }
  pass.last_rows.push_back(static_cast<int32_t>(pass.input.size()) - 1);
  pass.own.kv_begin.push_back(static_cast<int32_t>(rows.size()));
  rows.insert(rows.end(), feed.cache_rows.begin(), feed.cache_rows.end());
  pass.own.kv_end.push_back(static_cast<int32_t>(rows.size()));
  pass.own.q_offsets.push_back(static_cast<int32_t>(pass.input.size()));
}

void check_numbers(const Tensor& logits) {
  const auto values = logits.values<float>();
  require(std::none_of(values.begin(), values.end(), [](float x) { return std::isnan(x); }),
          "the model's output is not a number: its weights are damaged");
}

nn::Spans shared(kernels::AttentionSpans&& spans) {
  return std::make_shared<const kernels::AttentionSpans>(std::move(spans));
}

}  // namespace

CachedDecoder::CachedDecoder(const model::Transformer& model, DType dtype,
                             const model::Memory& memory)
    : model_(model),
      memory_(memory),
      context_{.dtype = dtype},
      caches_(model.make_caches(nn::KeyValueCache::Mode::keep)) {}

Tensor CachedDecoder::feed(std::span<const Feed> feeds) {
  Pass pass;
  pass.own.q_offsets = {0};
  for (const Feed& feed : feeds) {
    require(feed.tokens.size() < static_cast<size_t>(std::numeric_limits<int32_t>::max() - rows_),
            "the texts of one batch are too long");
    add(pass, feed, rows_);
    rows_ += static_cast<int32_t>(feed.tokens.size());
    if (!model_.has_encoder()) continue;
    const auto source = static_cast<size_t>(feed.source);
    pass.memory.kv_begin.push_back(memory_.offsets[source]);
    pass.memory.kv_end.push_back(memory_.offsets[source + 1]);
  }
  pass.memory.q_offsets = pass.own.q_offsets;
  Tensor states = model_.decode(context_, pass.input, memory_,
                                {std::move(pass.positions), shared(std::move(pass.own)),
                                 shared(std::move(pass.memory)), caches_});  // [N, D]
  if (pass.last_rows.size() < pass.input.size())
    states = ops::gather_rows(context_, states, pass.last_rows);
  Tensor logits = model_.logits(context_, states);  // [feeds, V]
  check_numbers(logits);
  return logits;
}

}  // namespace heed::generate
