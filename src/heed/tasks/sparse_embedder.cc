#include "heed/tasks/sparse_embedder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/tasks/hidden_states.h"
#include "heed/tasks/text_batches.h"

namespace heed::tasks {
namespace {

/// Rows of logits at a time: each has an element for each token of the vocabulary.
constexpr int64_t kLogitRows = 32;

}  // namespace

SparseEmbedder::SparseEmbedder(const model::Transformer& model, text::Tokenizer tokenizer,
                               EmbedderOptions options)
    : model_(&model),
      reader_(model.config(), std::move(tokenizer), options),
      options_(std::move(options)) {
  require(options_.lexical || options_.splade,
          "the model makes no sparse vectors: its files have neither SpladePooling, nor the head "
          "of a masked language model, nor {}",
          kLexicalHeadFile);
  if (options_.lexical)
    require(options_.lexical->width(model.config().d_model) == 1,
            "{} gives several numbers for a token, expected one", kLexicalHeadFile);
  else
    require(model.has_encoder() && !model.has_decoder() && model.config().has_head,
            "SPLADE needs an encoder-only model with the head of a masked language model");
}

std::vector<SparseEmbedding> SparseEmbedder::embed(const std::vector<std::string>& texts,
                                                   int64_t first_number) const {
  const std::vector<Ids> tokens = reader_.read(texts, first_number);
  std::vector<SparseEmbedding> embeddings(texts.size());
  run_text_batches(*model_, tokens, options_.batch_tokens, [&](std::span<const int64_t> members) {
    embed_batch(tokens, members, embeddings);
  });
  return embeddings;
}

void SparseEmbedder::embed_batch(const std::vector<Ids>& texts, std::span<const int64_t> members,
                                 std::vector<SparseEmbedding>& embeddings) const {
  const TextBatch batch(texts, members);
  Context context{.dtype = options_.dtype};
  const Tensor states = hidden_states(*model_, context, {batch.ids, batch.offsets});  // [N, D]
  Tensor weights;                                                                     // [N, 1]
  if (options_.lexical)
    weights = options_.lexical->forward(ops::to_f32(context, states.to(nullptr)));
  for (size_t b = 0; b < members.size(); ++b) {
    const int64_t begin = batch.offsets[b], end = batch.offsets[b + 1];
    const auto member = static_cast<size_t>(members[b]);
    embeddings[member] =
        sparse(options_.lexical ? lexical(weights.row_slice(begin, end), texts[member])
                                : splade(context, states.row_slice(begin, end)));
  }
}

/// The elements of a text with states [T, D]. The function of logits grows with them, so that it is
/// applied to the largest ones alone where these are pooled.
std::vector<float> SparseEmbedder::splade(Context& context, const Tensor& states) const {
  const SpladeSettings& settings = *options_.splade;
  const auto weight = [&](float logit) {
    const double once = std::log1p(std::max(static_cast<double>(logit), 0.0));
    return settings.log_twice ? std::log1p(once) : once;
  };
  std::vector<double> sums(static_cast<size_t>(settings.sum ? model_->config().vocab_size : 0));
  std::vector<float> largest(static_cast<size_t>(model_->config().vocab_size), 0.0f);
  for (int64_t first = 0; first < states.rows(); first += kLogitRows) {
    const Tensor rows = states.row_slice(first, std::min(first + kLogitRows, states.rows()));
    const Tensor logits = model_->logits(context, rows).to(nullptr);  // [M, V]
    for (int64_t row = 0; row < logits.rows(); ++row) {
      const float* const values = logits.data<float>() + row * logits.cols();
      for (size_t token = 0; token < largest.size(); ++token) {
        require(!std::isnan(values[token]),
                "the model's output is not finite: its weights are damaged");
        if (settings.sum)
          sums[token] += weight(values[token]);
        else
          largest[token] = std::max(largest[token], values[token]);
      }
    }
  }
  for (size_t token = 0; token < largest.size(); ++token)
    largest[token] = static_cast<float>(settings.sum ? sums[token] : weight(largest[token]));
  return largest;
}

/// The largest weight of each token of a text, special ones left out.
std::vector<float> SparseEmbedder::lexical(const Tensor& weights,
                                           std::span<const int32_t> ids) const {
  const text::SpecialTokens& special = reader_.tokenizer().special_tokens();
  std::vector<float> elements(static_cast<size_t>(model_->config().vocab_size), 0.0f);
  for (size_t i = 0; i < ids.size(); ++i) {
    const int32_t id = ids[i];
    if (id == special.cls || id == special.eos || id == special.pad || id == special.unk) continue;
    float& element = elements[static_cast<size_t>(id)];
    element = std::max(element, weights.data<float>()[i]);
  }
  return elements;
}

/// The elements above zero, or the max_active_dims largest of them.
SparseEmbedding SparseEmbedder::sparse(const std::vector<float>& elements) const {
  SparseEmbedding embedding;
  for (size_t token = 0; token < elements.size(); ++token)
    if (elements[token] > 0) embedding.indices.push_back(static_cast<int32_t>(token));
  const auto most = static_cast<size_t>(options_.max_active_dims.value_or(0));
  if (most > 0 && embedding.indices.size() > most) {
    std::ranges::stable_sort(embedding.indices, std::greater(),
                             [&](int32_t token) { return elements[static_cast<size_t>(token)]; });
    embedding.indices.resize(most);
    std::ranges::sort(embedding.indices);
  }
  for (const int32_t token : embedding.indices)
    embedding.values.push_back(elements[static_cast<size_t>(token)]);
  return embedding;
}

}  // namespace heed::tasks
