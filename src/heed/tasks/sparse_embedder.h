#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/embedding.h"
#include "heed/model/transformer.h"
#include "heed/tasks/embedder_options.h"
#include "heed/tasks/text_reader.h"

namespace heed::tasks {

/// Turns texts into sparse vectors over the vocabulary: SPLADE by the head that predicts masked
/// tokens, or BGE-M3's weights of the tokens that a text has. Each thread computes whole batches.
class SparseEmbedder {
 public:
  /// The model must outlive this. Throws Error when it makes no sparse vectors.
  SparseEmbedder(const model::Transformer& model, text::Tokenizer tokenizer,
                 EmbedderOptions options);

  /// One vector per text, in order; it does not depend on the other texts. Throws Error as
  /// Embedder::embed() does.
  std::vector<SparseEmbedding> embed(const std::vector<std::string>& texts,
                                     int64_t first_number = 1) const;

 private:
  using Ids = std::vector<int32_t>;

  void embed_batch(const std::vector<Ids>& texts, std::span<const int64_t> members,
                   std::vector<SparseEmbedding>& embeddings) const;
  std::vector<float> splade(Context& context, const Tensor& states) const;
  std::vector<float> lexical(const Tensor& weights, std::span<const int32_t> ids) const;
  SparseEmbedding sparse(const std::vector<float>& elements) const;

  const model::Transformer* model_;
  TextReader reader_;
  EmbedderOptions options_;
};

}  // namespace heed::tasks
