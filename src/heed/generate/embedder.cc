#include "heed/generate/embedder.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/data/translation_batches.h"
#include "heed/generate/hidden_states.h"
#include "heed/text/unicode/properties.h"
#include "heed/text/utf8.h"

namespace heed::generate {
namespace {

std::string lower_cased(const std::string& text) {
  std::string lower;
  text::for_each_code_point(text, [&](const text::CodePoint& point, auto) {
    text::append_lower_case(lower, point.value);
  });
  return lower;
}

/// How many of the tokens that stand around `plain` in `whole` stand before it.
size_t tokens_before(const std::vector<int32_t>& whole, const std::vector<int32_t>& plain) {
  for (size_t before = 0; before + plain.size() <= whole.size(); ++before)
    if (std::equal(plain.begin(), plain.end(), whole.begin() + static_cast<std::ptrdiff_t>(before)))
      return before;
  return 0;
}

/// states [T, D] of one text -> [D].
std::vector<float> pooled(Pooling pooling, const Tensor& states) {
  const int64_t width = states.cols(), length = states.rows();
  const float* values = states.data<float>();
  if (pooling == Pooling::cls) return {values, values + width};
  if (pooling == Pooling::last) return {values + (length - 1) * width, values + length * width};
  std::vector<float> result(static_cast<size_t>(width));
  for (int64_t column = 0; column < width; ++column) {
    double sum = 0;
    float largest = values[column];
    for (int64_t row = 0; row < length; ++row) {
      sum += static_cast<double>(values[row * width + column]);
      largest = std::max(largest, values[row * width + column]);
    }
    result[static_cast<size_t>(column)] =
        pooling == Pooling::max ? largest : static_cast<float>(sum / static_cast<double>(length));
  }
  return result;
}

void normalize(std::vector<float>& vector) {
  double squares = 0;
  for (const float x : vector) squares += static_cast<double>(x) * static_cast<double>(x);
  const double length = std::max(std::sqrt(squares), 1e-12);
  for (float& x : vector) x = static_cast<float>(static_cast<double>(x) / length);
}

}  // namespace

std::string_view name_of(Pooling pooling) {
  switch (pooling) {
    case Pooling::mean:
      return "mean";
    case Pooling::cls:
      return "cls";
    case Pooling::max:
      return "max";
    case Pooling::pooler:
      return "pooler";
    case Pooling::last:
      return "last";
  }
  return "?";
}

Embedder::Embedder(const model::Transformer& model, text::Tokenizer tokenizer,
                   EmbedderOptions options)
    : model_(model), tokenizer_(std::move(tokenizer)), options_(options) {
  const model::ModelConfig& config = model.config();
  require(options.pooling != Pooling::pooler || config.pooler, "the model has no pooler");
  require(options.batch_tokens >= 1, "a batch of {} tokens, expected at least 1",
          options.batch_tokens);
  const bool bounded = config.positions != model::PositionKind::none;
  require(options.max_tokens >= 0 && (!bounded || options.max_tokens <= config.max_positions),
          "texts are cut to {} tokens, expected at most {}, which the model reads",
          options.max_tokens, config.max_positions);
  if (options_.max_tokens == 0 && bounded) options_.max_tokens = config.max_positions;
}

std::vector<int32_t> Embedder::tokens(const std::string& text) const {
  const std::string& read = options_.lower_case ? lower_cased(text) : text;
  std::vector<int32_t> whole = tokenizer_.encode(read);
  const auto most = static_cast<size_t>(options_.max_tokens);
  if (most == 0 || whole.size() <= most) return whole;
  const std::vector<int32_t> plain = tokenizer_.encode(read, false);
  const size_t before = tokens_before(whole, plain);
  const size_t kept = most - std::min(most, whole.size() - plain.size());
  whole.erase(whole.begin() + static_cast<std::ptrdiff_t>(before + kept),
              whole.begin() + static_cast<std::ptrdiff_t>(before + plain.size()));
  whole.resize(std::min(whole.size(), most));
  return whole;
}

std::vector<std::vector<float>> Embedder::embed(const std::vector<std::string>& texts) const {
  std::vector<std::vector<int32_t>> read;
  std::vector<int64_t> lengths;
  for (size_t i = 0; i < texts.size(); ++i) {
    read.push_back(tokens(texts[i]));
    require(!read.back().empty(), "text {} has no tokens", i + 1);
    lengths.push_back(static_cast<int64_t>(read.back().size()));
  }
  std::vector<std::vector<float>> embeddings(texts.size());
  for (const std::vector<int64_t>& batch : data::plan_by_tokens(lengths, options_.batch_tokens))
    embed_batch(read, batch, embeddings);
  return embeddings;
}

void Embedder::embed_batch(const std::vector<std::vector<int32_t>>& texts,
                           std::span<const int64_t> members,
                           std::vector<std::vector<float>>& embeddings) const {
  std::vector<int32_t> ids, offsets{0};
  for (const int64_t member : members) {
    const std::vector<int32_t>& text = texts[static_cast<size_t>(member)];
    ids.insert(ids.end(), text.begin(), text.end());
    offsets.push_back(static_cast<int32_t>(ids.size()));
  }
  Context context;
  Tensor states = hidden_states(model_, context, {ids, offsets});  // [N, D]
  const bool by_pooler = options_.pooling == Pooling::pooler;
  if (by_pooler) states = model_.pool(context, states, offsets);  // [B, D]
  for (size_t b = 0; b < members.size(); ++b) {
    const auto row = static_cast<int64_t>(b);
    const Tensor own =
        by_pooler ? states.row_slice(row, row + 1) : states.row_slice(offsets[b], offsets[b + 1]);
    std::vector<float>& embedding = embeddings[static_cast<size_t>(members[b])];
    embedding = pooled(by_pooler ? Pooling::cls : options_.pooling, own);
    if (options_.normalize) normalize(embedding);
    require(std::none_of(embedding.begin(), embedding.end(), [](float x) { return std::isnan(x); }),
            "the model's output is not a number: its weights are damaged");
  }
}

}  // namespace heed::generate
