#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/model/transformer.h"
#include "heed/text/tokenizer.h"

namespace heed::generate {

/// How the states of a text's tokens become one vector.
enum class Pooling {
  mean,
  cls,     // the first token's
  max,     // the largest number of each column
  pooler,  // tanh of a linear map of the first token's (BERT's pooler)
  last     // the last token's
};
/// "mean", "cls", "max", "pooler" or "last".
std::string_view name_of(Pooling pooling);

struct EmbedderOptions {
  Pooling pooling = Pooling::mean;
  bool normalize = false;  // to length 1
  int64_t max_tokens = 0;  // longer texts are cut; 0: what the model reads
  bool lower_case = false;
  /// Of texts that a thread computes together, at most: few, since activations that leave the
  /// caches cost more than weights that are read again.
  int64_t batch_tokens = 512;
};

/// What a sentence-transformers directory says of it (modules.json, the pooling module's
/// config.json, sentence_bert_config.json); the defaults where there is no modules.json. Throws
/// Error, naming the file, on a module or a pooling that heed does not have.
EmbedderOptions read_embedder_options(const std::filesystem::path& model_path);

/// Texts to vectors. Threads take a batch each, one after the other; a single batch is shared by
/// all of them.
class Embedder {
 public:
  /// The model must outlive this. Throws Error on a pooler that the model lacks and on more tokens
  /// than it reads.
  Embedder(const model::Transformer& model, text::Tokenizer tokenizer, EmbedderOptions options);

  /// One vector [D] a text, in order; it does not depend on the other texts. Of the empty text:
  /// that of the special tokens around it. Throws Error when nothing is put around it, naming the
  /// first such text, and when the model's output is not a number.
  std::vector<std::vector<float>> embed(const std::vector<std::string>& texts) const;

  /// The tokens of a text, cut between its special tokens where it is too long.
  std::vector<int32_t> tokens(const std::string& text) const;

 private:
  void embed_batch(const std::vector<std::vector<int32_t>>& texts, std::span<const int64_t> members,
                   std::vector<std::vector<float>>& embeddings) const;

  const model::Transformer& model_;
  text::Tokenizer tokenizer_;
  EmbedderOptions options_;
};

}  // namespace heed::generate
