#include "heed/tasks/multi_vector_embedder.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/quote.h"
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
  prepare_expansion();
  prepare_skipped();
}

void MultiVectorEmbedder::prepare_expansion() {
  const auto& expansion = options_.multi_vector->expansion;
  if (!expansion || options_.task != EmbedTask::query) return;
  expanded_length_ = static_cast<size_t>(expansion->length);
  const int64_t context = reader_.max_tokens();
  require(context == 0 || expansion->length <= context,
          "queries are expanded to {} tokens, and the model reads at most {}", expansion->length,
          context);
  const text::Tokenizer& tokenizer = reader_.tokenizer();
  const text::SpecialTokens& special = tokenizer.special_tokens();
  const auto token = !expansion->token.empty() ? tokenizer.id_of(expansion->token)
                     : special.mask            ? special.mask
                                               : special.eos;
  require(token.has_value(), "queries are expanded with {}, which the tokenizer does not have",
          expansion->token.empty() ? "the mask token" : quoted(expansion->token));
  expansion_token_ = *token;
}

/// A word that is no token would otherwise stand for all unknown words.
void MultiVectorEmbedder::prepare_skipped() {
  const MultiVectorSettings& settings = *options_.multi_vector;
  const bool query = options_.task == EmbedTask::query;
  if (!(query ? settings.skips_in_queries : settings.skips_in_documents)) return;
  for (const std::string& word : settings.skiplist)
    if (const auto id = reader_.tokenizer().id_of(word)) skipped_.push_back(*id);
  std::ranges::sort(skipped_);
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
  std::vector<int32_t> ids, offsets{0}, attended;
  for (const int64_t member : members) {
    Ids text = texts[static_cast<size_t>(member)];
    attended.push_back(static_cast<int32_t>(text.size()));
    text.resize(std::max(text.size(), expanded_length_), expansion_token_);
    data::append_sequence(text, ids, offsets);
  }
  Context context{.dtype = options_.dtype};
  const auto& expansion = options_.multi_vector->expansion;
  const bool hides = expanded_length_ > 0 && !expansion->attend;
  Tensor states = hidden_states(  // [N, D]
      *model_, context,
      {ids, offsets, {}, hides ? std::span<const int32_t>(attended) : std::span<const int32_t>()});
  states = ops::to_f32(context, states.to(nullptr));
  const Tensor vectors =  // [N, W]
      applied(options_.multi_vector_modules, applied(options_.of_tokens, states));
  for (size_t b = 0; b < members.size(); ++b) {
    const int64_t begin = offsets[b], end = offsets[b + 1];
    embeddings[static_cast<size_t>(members[b])] =
        scored(std::span(ids).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)),
               static_cast<size_t>(attended[b]), vectors.row_slice(begin, end));
  }
}

MultiVectorEmbedding MultiVectorEmbedder::scored(std::span<const int32_t> ids, size_t own,
                                                 const Tensor& vectors) const {
  const auto width = static_cast<size_t>(vectors.cols());
  MultiVectorEmbedding embedding{.tokens = {}, .dimension = vectors.cols(), .values = {}};
  for (auto i = static_cast<size_t>(options_.multi_vector->first_token); i < ids.size(); ++i) {
    if (i < own && std::ranges::binary_search(skipped_, ids[i])) continue;
    const std::span vector(vectors.data<float>() + i * width, width);
    require(std::ranges::all_of(vector, [](float x) { return std::isfinite(x); }),
            "the model's output is not finite: its weights are damaged");
    embedding.tokens.push_back(ids[i]);
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
