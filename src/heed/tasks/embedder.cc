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
  Tensor y = Tensor::empty({x.rows(), width});
  for (int64_t row = 0; row < x.rows(); ++row)
    std::copy_n(x.data<float>() + row * x.cols(), width, y.data<float>() + row * width);
  return y;
}

/// The mean of the vectors of windows [n, W], each weighted by its tokens of the text; that of a
/// single window as it is.
void mean_of_windows(const Tensor& vectors, const std::vector<TextWindow>& windows, Tensor& mean) {
  int64_t tokens = 0;
  for (const TextWindow& window : windows) tokens += window.tokens;
  for (int64_t column = 0; column < vectors.cols(); ++column) {
    const float* value = vectors.data<float>() + column;
    double sum = 0;
    for (const TextWindow& window : windows) {
      sum += static_cast<double>(window.tokens) * static_cast<double>(*value);
      value += vectors.cols();
    }
    mean.data<float>()[column] = windows.size() == 1
                                     ? vectors.data<float>()[column]
                                     : static_cast<float>(sum / static_cast<double>(tokens));
  }
}

/// Writes each row to the place of its member.
void put_rows(const Tensor& rows, std::span<const int64_t> members, float* place) {
  for (size_t b = 0; b < members.size(); ++b)
    std::copy_n(rows.data<float>() + static_cast<int64_t>(b) * rows.cols(), rows.cols(),
                place + rows.cols() * members[b]);
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
  width_ = options_.whole_width(config.d_model);
  if (!options_.include_prompt && !options_.prompt.empty())
    unpooled_ = reader_.count_prompt_tokens();
}

std::vector<std::vector<float>> Embedder::embed(const std::vector<std::string>& texts,
                                                int64_t first_number) const {
  std::vector<float> all(texts.size() * static_cast<size_t>(dimension()));
  embed(texts, all, first_number);
  return in_rows(all);
}

void Embedder::embed(const std::vector<std::string>& texts, std::span<float> embeddings,
                     int64_t first_number) const {
  const auto width = static_cast<size_t>(dimension());
  require_input(embeddings.size() == texts.size() * width,
                "there is room for {} elements, expected {} for {} embeddings of {}",
                embeddings.size(), texts.size() * width, texts.size(), width);
  if (options_.window > 0) return embed_in_windows(texts, embeddings, first_number);
  embed_tokens(reader_.read(texts, first_number), embeddings);
}

std::vector<std::vector<float>> Embedder::embed_tokens(
    const std::vector<std::vector<int32_t>>& texts) const {
  require_input(options_.window == 0, "tokens are not read in windows, and window is {}",
                options_.window);
  std::vector<float> all(texts.size() * static_cast<size_t>(dimension()));
  embed_tokens(texts, all);
  return in_rows(all);
}

std::vector<std::vector<float>> Embedder::in_rows(const std::vector<float>& all) const {
  std::vector<std::vector<float>> embeddings;
  for (auto row = all.begin(); row != all.end(); row += dimension())
    embeddings.emplace_back(row, row + dimension());
  return embeddings;
}

void Embedder::embed_tokens(const std::vector<Ids>& texts, std::span<float> embeddings) const {
  run_text_batches(*model_, texts, options_.batch_tokens, [&](std::span<const int64_t> members) {
    put_rows(finished(vectors_of(texts, members)), members, embeddings.data());
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

Tensor Embedder::vectors_of(const std::vector<Ids>& texts, std::span<const int64_t> members) const {
  const TextBatch batch(texts, members);
  const std::vector<int32_t>& offsets = batch.offsets;
  Context context{.dtype = options_.dtype};
  Tensor states = hidden_states(*model_, context, {batch.ids, offsets});  // [N, D]
  const bool by_pooler = pools_by_pooler(options_);
  if (by_pooler) states = model_->pool(context, states, offsets);  // [B, D]
  states = ops::to_f32(context, states.to(nullptr));
  if (!by_pooler) states = pooled_texts(applied(options_.of_tokens, states), offsets);  // [B, P]
  Tensor vectors = applied(options_.of_texts, states);                                  // [B, W]
  require(std::ranges::all_of(vectors.values<float>(), [](float x) { return std::isfinite(x); }),
          "the model's output is not finite: its weights are damaged");
  return vectors;
}

Tensor Embedder::finished(const Tensor& vectors) const {
  Tensor result = first_columns(vectors, dimension_);
  if (options_.normalize) normalize_rows(result);
  return result;
}

Embedder::Windows Embedder::read_windows(const std::vector<std::string>& texts,
                                         int64_t first_number) const {
  Windows windows{.of_texts = reader_.read_windows(texts, first_number), .vectors = {}};
  std::vector<Ids> ids;
  for (const std::vector<TextWindow>& text : windows.of_texts)
    for (const TextWindow& window : text) ids.push_back(window.ids);
  windows.vectors = Tensor::empty({std::ssize(ids), width_});
  run_text_batches(*model_, ids, options_.batch_tokens, [&](std::span<const int64_t> members) {
    put_rows(vectors_of(ids, members), members, windows.vectors.data<float>());
  });
  return windows;
}

void Embedder::embed_in_windows(const std::vector<std::string>& texts, std::span<float> embeddings,
                                int64_t first_number) const {
  const Windows windows = read_windows(texts, first_number);
  const int64_t count = std::ssize(windows.of_texts);
  Tensor vectors = Tensor::empty({count, width_});
  for (int64_t text = 0, begin = 0; text < count; ++text) {
    const std::vector<TextWindow>& own = windows.of_texts[static_cast<size_t>(text)];
    const int64_t end = begin + std::ssize(own);
    Tensor row = vectors.row_slice(text, text + 1);
    mean_of_windows(windows.vectors.row_slice(begin, end), own, row);
    if (own.size() > 1 && options_.normalizes()) normalize_rows(row);
    begin = end;
  }
  std::ranges::copy(finished(vectors).values<float>(), embeddings.begin());
}

std::vector<std::vector<WindowEmbedding>> Embedder::embed_windows(
    const std::vector<std::string>& texts, int64_t first_number) const {
  require_input(options_.window > 0, "there is no window, expected its number of tokens");
  const Windows windows = read_windows(texts, first_number);
  const Tensor vectors = finished(windows.vectors);
  const float* row = vectors.data<float>();
  std::vector<std::vector<WindowEmbedding>> embeddings;
  for (const std::vector<TextWindow>& text : windows.of_texts) {
    std::vector<WindowEmbedding>& own = embeddings.emplace_back();
    for (const TextWindow& window : text) {
      own.push_back({window.tokens, window.start, window.end, {row, row + dimension_}});
      row += dimension_;
    }
  }
  return embeddings;
}

}  // namespace heed::tasks
