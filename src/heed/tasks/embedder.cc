#include "heed/tasks/embedder.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/data/batch.h"
#include "heed/data/inference_batches.h"
#include "heed/ops/elementwise.h"
#include "heed/tasks/hidden_states.h"
#include "heed/tasks/text_settings.h"

namespace heed::tasks {
namespace {

/// Smallest number of tokens of a batch that one thread computes alone.
constexpr int64_t kMinEmbeddedTokens = 128;

std::vector<float> mean_of_rows(const float* values, int64_t rows, size_t width) {
  std::vector<double> sums(width);
  for (int64_t row = 0; row < rows; ++row, values += width)
    for (size_t column = 0; column < width; ++column)
      sums[column] += static_cast<double>(values[column]);
  std::vector<float> mean(width);
  for (size_t column = 0; column < width; ++column)
    mean[column] = static_cast<float>(sums[column] / static_cast<double>(rows));
  return mean;
}

std::vector<float> max_of_rows(const float* values, int64_t rows, size_t width) {
  std::vector<float> largest(values, values + width);
  for (int64_t row = 1; row < rows; ++row) {
    values += width;
    for (size_t column = 0; column < width; ++column)
      largest[column] = std::max(largest[column], values[column]);
  }
  return largest;
}

/// The states [T, D] of one text, pooled to [D].
std::vector<float> pooled(Pooling pooling, const float* states, int64_t rows, size_t width) {
  switch (pooling) {
    case Pooling::mean:
      return mean_of_rows(states, rows, width);
    case Pooling::max:
      return max_of_rows(states, rows, width);
    case Pooling::last:
      states += static_cast<size_t>(rows - 1) * width;
      break;
    case Pooling::cls:
    case Pooling::pooler:
      break;
  }
  return {states, states + width};
}

void normalize(std::vector<float>& vector) {
  double squares = 0;
  for (const float x : vector) squares += static_cast<double>(x) * static_cast<double>(x);
  const double length = std::max(std::sqrt(squares), 1e-12);
  for (float& x : vector) x = static_cast<float>(static_cast<double>(x) / length);
}

}  // namespace

Embedder::Embedder(const model::Transformer& model, text::Tokenizer tokenizer,
                   EmbedderOptions options)
    : model_(&model), tokenizer_(std::move(tokenizer)), options_(options) {
  const model::ModelConfig& config = model.config();
  require(options.pooling != Pooling::pooler || config.pooler, "the model has no pooler");
  require_input(options.batch_tokens >= 0, "batch_tokens is {}, expected at least 0",
                options.batch_tokens);
  const bool bounded = config.positions != model::PositionKind::none;
  require(
      options.max_seq_length >= 0 && (!bounded || options.max_seq_length <= config.max_positions),
      "max_seq_length is {}, expected at most {}: the model's context length",
      options.max_seq_length, config.max_positions);
  if (options_.max_seq_length == 0 && bounded) options_.max_seq_length = config.max_positions;
  if (!options_.include_prompt && !options_.prompt.empty()) unpooled_ = count_prompt_tokens();
}

int64_t Embedder::dimension() const {
  const int64_t width = model_->config().d_model;
  return options_.truncate_dim == 0 ? width : std::min(width, options_.truncate_dim);
}

/// Without a special token at the end, which would follow the text.
int64_t Embedder::count_prompt_tokens() const {
  const std::vector<int32_t> prompt = tokens("");
  return std::ssize(prompt) - (!prompt.empty() && tokenizer_.is_special(prompt.back()) ? 1 : 0);
}

std::string Embedder::whole_text(const std::string& text) const {
  return options_.lower_case ? lower_cased(options_.prompt + text) : options_.prompt + text;
}

std::vector<int32_t> Embedder::tokens(const std::string& text) const {
  return ids_within(tokenizer_, whole_text(text), limit());
}

int64_t Embedder::count_tokens(const std::string& text) const {
  return std::ssize(tokenizer_.encode(whole_text(text)));
}

std::vector<std::vector<int32_t>> Embedder::read(const std::vector<std::string>& texts,
                                                 int64_t first_number) const {
  std::vector<std::vector<int32_t>> all(texts.size());
  data::read_inputs("text", texts.size(), first_number, [&](size_t i) {
    all[i] = tokens(texts[i]);
    require_input(!all[i].empty(), "no tokens");
  });
  return all;
}

std::vector<std::vector<float>> Embedder::embed(const std::vector<std::string>& texts,
                                                int64_t first_number) const {
  return embed_tokens(read(texts, first_number));
}

void Embedder::embed(const std::vector<std::string>& texts, std::span<float> embeddings,
                     int64_t first_number) const {
  const auto width = static_cast<size_t>(dimension());
  require_input(embeddings.size() == texts.size() * width,
                "there is room for {} elements, expected {} for {} embeddings of {}",
                embeddings.size(), texts.size() * width, texts.size(), width);
  embed_tokens(read(texts, first_number), embeddings);
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
  std::vector<int64_t> lengths;
  for (const std::vector<int32_t>& text : texts) lengths.push_back(std::ssize(text));
  const bool on_device = model_->device() != nullptr;
  data::run_batches(
      lengths,
      {.max_per_batch = data::tokens_per_batch(options_.batch_tokens, on_device),
       .min_per_thread = kMinEmbeddedTokens,
       .on_device = on_device},
      [&](std::span<const int64_t> members) { embed_batch(texts, members, embeddings); });
}

/// The vector of a text from its states [rows, D]. A text that is only the prompt is pooled as a
/// whole.
std::vector<float> Embedder::embedding(const float* states, int64_t rows) const {
  const auto width = static_cast<size_t>(model_->config().d_model);
  const int64_t skipped = options_.pooling == Pooling::pooler || unpooled_ >= rows ? 0 : unpooled_;
  std::vector<float> vector = pooled(
      options_.pooling, states + static_cast<size_t>(skipped) * width, rows - skipped, width);
  if (options_.normalize && !options_.normalize_last) normalize(vector);
  vector.resize(static_cast<size_t>(dimension()));
  if (options_.normalize && options_.normalize_last) normalize(vector);
  require(std::ranges::all_of(vector, [](float x) { return std::isfinite(x); }),
          "the model's output is not finite: its weights are damaged");
  return vector;
}

void Embedder::embed_batch(const std::vector<std::vector<int32_t>>& texts,
                           std::span<const int64_t> members, std::span<float> embeddings) const {
  std::vector<int32_t> ids, offsets{0};
  for (const int64_t member : members)
    data::append_sequence(texts[static_cast<size_t>(member)], ids, offsets);
  Context context{.dtype = options_.dtype};
  Tensor states = hidden_states(*model_, context, {ids, offsets});  // [N, D]
  const bool by_pooler = options_.pooling == Pooling::pooler;
  if (by_pooler) states = model_->pool(context, states, offsets);  // [B, D]
  states = ops::to_f32(context, states.to(nullptr));
  const float* values = states.data<float>();
  for (size_t b = 0; b < members.size(); ++b) {
    const int64_t first = by_pooler ? static_cast<int64_t>(b) : offsets[b];
    std::ranges::copy(embedding(values + first * states.cols(), offsets[b + 1] - offsets[b]),
                      embeddings.begin() + dimension() * members[b]);
  }
}

}  // namespace heed::tasks
