#include "heed/tasks/embedder.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/tasks/hidden_states.h"
#include "heed/tasks/modules/pooling.h"
#include "heed/tasks/text_batches.h"

namespace heed::tasks {
namespace {

bool pools_by_pooler(const EmbedderOptions& options) {
  return std::ranges::find(options.pooling, Pooling::pooler) != options.pooling.end();
}

/// The first `width` columns.
Tensor first_columns(const Tensor& x, int64_t width) {
  if (width == x.cols()) return x;
  Tensor y = Tensor::empty({x.rows(), width});
  for (int64_t row = 0; row < x.rows(); ++row)
    std::copy_n(x.data<float>() + row * x.cols(), width, y.data<float>() + row * width);
  return y;
}

}  // namespace

Embedder::Embedder(const model::Transformer& model, text::Tokenizer tokenizer,
                   EmbedderOptions options)
    : model_(&model),
      reader_(model.config(), std::move(tokenizer), options),
      options_(std::move(options)) {
  const model::ModelConfig& config = model.config();
  require(!options_.pooling.empty(), "the model makes no single vector of a text, but {}",
          options_.multi_vector ? "one for each token (multi-vector)" : "a sparse one");
  if (pools_by_pooler(options_)) {
    require(config.pooler, "the model has no pooler");
    require_input(options_.pooling.size() == 1 && options_.of_tokens.empty(),
                  "the pooling pooler is none beside others, nor after modules of tokens");
  }
  dimension_ = options_.width(config.d_model);
  if (!options_.include_prompt && !options_.prompt.empty())
    unpooled_ = reader_.count_prompt_tokens();
}

std::vector<std::vector<float>> Embedder::embed(const std::vector<std::string>& texts,
                                                int64_t first_number) const {
  return embed_tokens(reader_.read(texts, first_number));
}

void Embedder::embed(const std::vector<std::string>& texts, std::span<float> embeddings,
                     int64_t first_number) const {
  const auto width = static_cast<size_t>(dimension());
  require_input(embeddings.size() == texts.size() * width,
                "there is room for {} elements, expected {} for {} embeddings of {}",
                embeddings.size(), texts.size() * width, texts.size(), width);
  embed_tokens(reader_.read(texts, first_number), embeddings);
}

std::vector<std::vector<float>> Embedder::embed_tokens(
    const std::vector<std::vector<int32_t>>& texts) const {
  const int64_t width = dimension();
  std::vector<float> all(texts.size() * static_cast<size_t>(width));
  embed_tokens(texts, all);
  std::vector<std::vector<float>> embeddings;
  for (auto row = all.begin(); row != all.end(); row += width)
    embeddings.emplace_back(row, row + width);
  return embeddings;
}

void Embedder::embed_tokens(const std::vector<std::vector<int32_t>>& texts,
                            std::span<float> embeddings) const {
  run_text_batches(*model_, texts, options_.batch_tokens, [&](std::span<const int64_t> members) {
    embed_batch(texts, members, embeddings);
  });
}

/// The states [N, W] of texts, pooled to [B, P]. A text that is only the prompt is pooled as a
/// whole.
Tensor Embedder::pooled_texts(const Tensor& states, std::span<const int32_t> offsets) const {
  const int64_t width = states.cols(), texts = std::ssize(offsets) - 1;
  Tensor result = Tensor::empty({texts, width * std::ssize(options_.pooling)});
  for (int64_t b = 0; b < texts; ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)],
                  rows = offsets[static_cast<size_t>(b) + 1] - begin,
                  skipped = unpooled_ >= rows ? 0 : unpooled_;
    const float* const first = states.data<float>() + (begin + skipped) * width;
    std::ranges::copy(pooled(options_.pooling, {first, rows - skipped, width, skipped}),
                      result.data<float>() + b * result.cols());
  }
  return result;
}

void Embedder::embed_batch(const std::vector<std::vector<int32_t>>& texts,
                           std::span<const int64_t> members, std::span<float> embeddings) const {
  const TextBatch batch(texts, members);
  const std::vector<int32_t>& offsets = batch.offsets;
  Context context{.dtype = options_.dtype};
  Tensor states = hidden_states(*model_, context, {batch.ids, offsets});  // [N, D]
  const bool by_pooler = pools_by_pooler(options_);
  if (by_pooler) states = model_->pool(context, states, offsets);  // [B, D]
  states = ops::to_f32(context, states.to(nullptr));
  if (!by_pooler) states = pooled_texts(applied(options_.of_tokens, states), offsets);  // [B, P]
  Tensor vectors = first_columns(applied(options_.of_texts, states), dimension_);
  if (options_.normalize) normalize_rows(vectors);
  require(std::ranges::all_of(vectors.values<float>(), [](float x) { return std::isfinite(x); }),
          "the model's output is not finite: its weights are damaged");
  for (size_t b = 0; b < members.size(); ++b)
    std::copy_n(vectors.data<float>() + static_cast<int64_t>(b) * dimension_, dimension_,
                embeddings.begin() + dimension_ * members[b]);
}

}  // namespace heed::tasks
