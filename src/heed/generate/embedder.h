#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/embedding.h"
#include "heed/model/transformer.h"
#include "heed/text/tokenizer.h"

namespace heed::generate {

using heed::Pooling;

struct EmbedderOptions {
  Pooling pooling = Pooling::mean;
  bool normalize = false;      // to length 1
  int64_t max_seq_length = 0;  // longer texts are truncated; 0: the model's context length
  bool lower_case = false;
  /// Largest number of tokens of a batch. Small batches are fastest: their activations stay in the
  /// processor's caches, which saves more than reading the weights again costs.
  int64_t batch_tokens = 512;
};

/// Reads modules.json, the config.json of the pooling module and sentence_bert_config.json of a
/// sentence-transformers directory; without modules.json, the defaults. Throws Error, naming the
/// file, on a module or a pooling that heed does not support.
EmbedderOptions read_embedder_options(const std::filesystem::path& model_path);

/// Turns texts into vectors. Each thread computes whole batches; all threads share a single batch.
class Embedder {
 public:
  /// The model must outlive this. Throws Error when the model lacks the pooler, and when
  /// max_seq_length exceeds its context length.
  Embedder(const model::Transformer& model, text::Tokenizer tokenizer, EmbedderOptions options);

  /// One vector [D] per text, in order; a vector does not depend on the other texts. The empty text
  /// gets the vector of its special tokens. Throws Error when a text has no tokens at all, naming
  /// the first such text (counted from `first_number`), and when the model's output is not finite.
  std::vector<std::vector<float>> embed(const std::vector<std::string>& texts,
                                        int64_t first_number = 1) const;
  /// The same, written to `embeddings` [texts.size(), D].
  void embed(const std::vector<std::string>& texts, std::span<float> embeddings,
             int64_t first_number = 1) const;
  /// The same for the tokens of texts, as tokens() gives them; none may be empty.
  std::vector<std::vector<float>> embed_tokens(
      const std::vector<std::vector<int32_t>>& texts) const;

  /// The tokens of a text, truncated to max_tokens(); special tokens are never truncated.
  std::vector<int32_t> tokens(const std::string& text) const;
  /// max_seq_length, or the model's context length; 0: not limited.
  int64_t max_tokens() const { return options_.max_seq_length; }

 private:
  std::vector<std::vector<int32_t>> read(const std::vector<std::string>& texts,
                                         int64_t first_number) const;
  void embed_tokens(const std::vector<std::vector<int32_t>>& texts,
                    std::span<float> embeddings) const;
  void embed_batch(const std::vector<std::vector<int32_t>>& texts, std::span<const int64_t> members,
                   std::span<float> embeddings) const;

  const model::Transformer& model_;
  text::Tokenizer tokenizer_;
  EmbedderOptions options_;
};

}  // namespace heed::generate
