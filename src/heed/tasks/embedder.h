#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/model/transformer.h"
#include "heed/tasks/embedder_options.h"
#include "heed/tasks/text_reader.h"

namespace heed::tasks {

/// Turns texts into vectors. Each thread computes whole batches; all threads share a single batch.
class Embedder {
 public:
  /// The model must outlive this. Throws Error when the model lacks the pooler, and when
  /// max_seq_length exceeds its context length.
  Embedder(const model::Transformer& model, text::Tokenizer tokenizer, EmbedderOptions options);

  /// One vector [dimension()] per text, in order; a vector does not depend on the other texts. The
  /// empty text gets the vector of its special tokens. Throws Error when a text has no tokens at
  /// all, naming the first such text (counted from `first_number`), and when the model's output is
  /// not finite.
  std::vector<std::vector<float>> embed(const std::vector<std::string>& texts,
                                        int64_t first_number = 1) const;
  /// The same, written to `embeddings` [texts.size(), dimension()].
  void embed(const std::vector<std::string>& texts, std::span<float> embeddings,
             int64_t first_number = 1) const;
  /// The same for the tokens of texts, as tokens() gives them; none may be empty.
  std::vector<std::vector<float>> embed_tokens(
      const std::vector<std::vector<int32_t>>& texts) const;

  /// The vectors of the windows of each text, with EmbedderOptions::window.
  std::vector<std::vector<WindowEmbedding>> embed_windows(const std::vector<std::string>& texts,
                                                          int64_t first_number) const;

  /// The tokens of a text with the prompt before it, truncated to max_tokens(); special tokens are
  /// never truncated.
  std::vector<int32_t> tokens(const std::string& text) const { return reader_.tokens(text); }
  /// How many there are before they are truncated.
  int64_t count_tokens(const std::string& text) const { return reader_.count_tokens(text); }
  /// max_seq_length, or the model's context length; 0: not limited.
  int64_t max_tokens() const { return reader_.max_tokens(); }
  /// Numbers of a vector.
  int64_t dimension() const { return dimension_; }

 private:
  using Ids = std::vector<int32_t>;
  /// The windows of texts and their vectors before finished().
  struct Windows {
    std::vector<std::vector<TextWindow>> of_texts;
    Tensor vectors;  // [windows of all texts, W]
  };

  Tensor pooled_texts(const Tensor& states, std::span<const int32_t> offsets) const;
  /// What the modules make of some texts: [B, W].
  Tensor vectors_of(const std::vector<Ids>& texts, std::span<const int64_t> members) const;
  /// Truncated and normalised as the options say: [B, dimension()].
  Tensor finished(const Tensor& vectors) const;
  void embed_tokens(const std::vector<Ids>& texts, std::span<float> embeddings) const;
  std::vector<std::vector<float>> in_rows(const std::vector<float>& all) const;
  Windows read_windows(const std::vector<std::string>& texts, int64_t first_number) const;
  void embed_in_windows(const std::vector<std::string>& texts, std::span<float> embeddings,
                        int64_t first_number) const;

  const model::Transformer* model_;
  TextReader reader_;
  EmbedderOptions options_;
  int64_t dimension_ = 0;
  int64_t width_ = 0;     // W, before a vector is truncated
  int64_t unpooled_ = 0;  // the first tokens of a text, whose states are not pooled
};

}  // namespace heed::tasks
