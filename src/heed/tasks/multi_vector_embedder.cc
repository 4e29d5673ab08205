#include "heed/tasks/multi_vector_embedder.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/tasks/hidden_states.h"
#include "heed/tasks/text_batches.h"

namespace heed::tasks {

MultiVectorEmbedder::MultiVectorEmbedder(const model::Transformer& model, text::Tokenizer tokenizer,
                                         EmbedderOptions options)
    : model_(&model),
      reader_(model.config(), std::move(tokenizer), options),
      options_(std::move(options)) {
  require(options_.multi_vector.has_value(),
          "the model makes no vector for each token: its files are neither of a "
          "MultiVectorEncoder, nor of PyLate, nor have they {}",
          kColbertHeadFile);
  width_after(options_.multi_vector_modules,
              width_after(options_.of_tokens, model.config().d_model));
  tokens_.emplace(*options_.multi_vector, reader_.tokenizer(), options_.task, reader_.max_tokens());
}

std::vector<MultiVectorEmbedding> MultiVectorEmbedder::embed(const std::vector<std::string>& texts,
                                                             int64_t first_number) const {
  const std::vector<Ids> tokens = reader_.read(texts, first_number);
  std::vector<MultiVectorEmbedding> embeddings(texts.size());
  run_text_batches(*model_, tokens, options_.batch_tokens, [&](std::span<const int64_t> members) {
    embed_batch(tokens, members, embeddings);
  });
  return embeddings;
}

void MultiVectorEmbedder::embed_batch(const std::vector<Ids>& texts,
                                      std::span<const int64_t> members,
                                      std::vector<MultiVectorEmbedding>& embeddings) const {
  std::vector<MultiVectorText> own;
  std::vector<int32_t> ids, offsets{0}, attended;
  for (const int64_t member : members) {
    own.push_back(tokens_->read(texts[static_cast<size_t>(member)]));
    data::append_sequence(own.back().ids, ids, offsets);
    if (tokens_->hides()) attended.push_back(own.back().attended);
  }
  Context context{.dtype = options_.dtype};
  Tensor states = hidden_states(*model_, context, {ids, offsets, {}, attended});  // [N, D]
  states = ops::to_f32(context, states.to(nullptr));
  const Tensor vectors =  // [N, W]
      applied(options_.multi_vector_modules, applied(options_.of_tokens, states));
  for (size_t b = 0; b < members.size(); ++b)
    embeddings[static_cast<size_t>(members[b])] =
        scored(own[b], vectors.row_slice(offsets[b], offsets[b + 1]));
}

MultiVectorEmbedding MultiVectorEmbedder::scored(const MultiVectorText& text,
                                                 const Tensor& vectors) const {
  const auto width = static_cast<size_t>(vectors.cols());
  MultiVectorEmbedding embedding{.tokens = {}, .dimension = vectors.cols(), .values = {}};
  for (const int32_t place : text.scored) {
    const auto i = static_cast<size_t>(place);
    const std::span vector(vectors.data<float>() + i * width, width);
    require(std::ranges::all_of(vector, [](float x) { return std::isfinite(x); }),
            "the model's output is not finite: its weights are damaged");
    embedding.tokens.push_back(text.ids[i]);
    embedding.values.insert(embedding.values.end(), vector.begin(), vector.end());
  }
  return embedding;
}

}  // namespace heed::tasks

namespace heed {

double max_sim(const MultiVectorEmbedding& query, const MultiVectorEmbedding& document) {
  require_input(query.dimension == document.dimension && query.dimension > 0,
                "vectors of {} and of {} elements cannot be compared", query.dimension,
                document.dimension);
  require_input(!document.values.empty(), "the document has no vectors");
  const auto width = static_cast<size_t>(query.dimension);
  double score = 0;
  for (size_t q = 0; q < query.values.size(); q += width) {
    double largest = -std::numeric_limits<double>::infinity();
    for (size_t d = 0; d < document.values.size(); d += width) {
      double product = 0;
      for (size_t i = 0; i < width; ++i)
        product +=
            static_cast<double>(query.values[q + i]) * static_cast<double>(document.values[d + i]);
      largest = std::max(largest, product);
    }
    score += largest;
  }
  return score;
}

double dot(const SparseEmbedding& first, const SparseEmbedding& second) {
  double sum = 0;
  size_t b = 0;
  for (size_t a = 0; a < first.indices.size(); ++a) {
    while (b < second.indices.size() && second.indices[b] < first.indices[a]) ++b;
    if (b < second.indices.size() && second.indices[b] == first.indices[a])
      sum += static_cast<double>(first.values[a]) * static_cast<double>(second.values[b]);
  }
  return sum;
}

}  // namespace heed
