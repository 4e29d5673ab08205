#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/embedding.h"
#include "heed/model/transformer.h"
#include "heed/tasks/embedder_options.h"
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

  void prepare_expansion();
  void prepare_skipped();
  void embed_batch(const std::vector<Ids>& texts, std::span<const int64_t> members,
                   std::vector<MultiVectorEmbedding>& embeddings) const;
  /// The tokens of a text of which some are no expansion, and their vectors [T, W].
  MultiVectorEmbedding scored(std::span<const int32_t> ids, size_t own,
                              const Tensor& vectors) const;

  const model::Transformer* model_;
  TextReader reader_;
  EmbedderOptions options_;
  size_t expanded_length_ = 0;  // of a query at least; 0: queries are not expanded
  int32_t expansion_token_ = -1;
  std::vector<int32_t> skipped_;  // tokens without a vector, ascending
};

}  // namespace heed::tasks
