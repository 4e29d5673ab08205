#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heed/embedding.h"
#include "heed/model/transformer.h"
#include "heed/tasks/embedder_options.h"
#include "heed/tasks/multi_vector_tokens.h"
#include "heed/tasks/text_reader.h"

namespace heed::tasks {

/// Turns texts into a vector for each token, as ColBERT does. Each thread computes whole batches.
class MultiVectorEmbedder {
 public:
  /// The model must outlive this. Throws Error when it does not make several vectors, and when
  /// queries cannot be expanded.
  MultiVectorEmbedder(const model::Transformer& model, text::Tokenizer tokenizer,
                      EmbedderOptions options);

  /// One embedding per text, in order; it does not depend on the other texts. Throws Error as
  /// Embedder::embed() does.
  std::vector<MultiVectorEmbedding> embed(const std::vector<std::string>& texts,
                                          int64_t first_number = 1) const;

  /// What it reads of a text.
  const TextReader& reader() const { return reader_; }

 private:
  using Ids = std::vector<int32_t>;

  void embed_batch(const std::vector<Ids>& texts, std::span<const int64_t> members,
                   std::vector<MultiVectorEmbedding>& embeddings) const;
  /// The vectors of the tokens that have one, from those of all [T, W].
  MultiVectorEmbedding scored(const MultiVectorText& text, const Tensor& vectors) const;

  const model::Transformer* model_;
  TextReader reader_;
  EmbedderOptions options_;
  std::optional<MultiVectorTokens> tokens_;
};

}  // namespace heed::tasks
