#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/export.h"

namespace heed {

/// The pooling of the hidden states of a text's tokens to one vector.
enum class Pooling {
  mean,
  cls,                   // the first token's state
  max,                   // the maximum of each dimension
  pooler,                // tanh of a linear map of the first token's state (BERT's pooler)
  last,                  // the last token's state
  mean_sqrt_len_tokens,  // the sum, divided by the square root of the number of tokens
  weightedmean           // the mean weighted with the position, counted from 1
};

/// "mean", "cls", "max", "pooler", "last", "mean_sqrt_len_tokens" or "weightedmean".
constexpr std::string_view name_of(Pooling pooling) {
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
    case Pooling::mean_sqrt_len_tokens:
      return "mean_sqrt_len_tokens";
    case Pooling::weightedmean:
      return "weightedmean";
  }
  return "?";
}

/// What a text is for, in search.
enum class EmbedTask { query, document };

/// "query" or "document".
constexpr std::string_view name_of(EmbedTask task) {
  return task == EmbedTask::query ? "query" : task == EmbedTask::document ? "document" : "?";
}

/// How texts become vectors. What is not set comes from the files of a sentence-transformers
/// directory; without them, the default in brackets holds.
struct EmbedOptions {
  std::optional<Pooling> pooling = {};  // [mean; last for a causal language model]
  std::optional<bool> normalize = {};   // to length 1 [false]
  /// Put before each text, in place of the default prompt of the files [none].
  std::optional<std::string> prompt = {};
  /// The same by its name in the files; "query" and "document" are empty where they have none. At
  /// most one of prompt and prompt_name is given.
  std::optional<std::string> prompt_name = {};
  /// Selects the prompt "query" or "document", unless another is asked for, and where each token
  /// has a vector the longest text, the expansion of queries and the tokens that are skipped: what
  /// encode_query() and encode_document() of sentence-transformers do [neither].
  std::optional<EmbedTask> task = {};
  /// The first elements of a vector, at least 1 and at most all of it (Matryoshka; Kusupati et al.
  /// 2022); a vector of length 1 is shorter then, unless `normalize` is true [truncate_dim, or
  /// all].
  std::optional<int64_t> dimensions = {};
  /// Longer texts are truncated to this many tokens; at least 1 [model_max_length of
  /// tokenizer_config.json, or the model's context length].
  std::optional<int64_t> max_seq_length = {};
  /// Longer texts are not truncated, but read in windows of this many tokens, special tokens and
  /// the prompt included, which each of them has; at most the model's context length. The vector of
  /// a text is then the mean of those of its windows, each weighted by its tokens of the text, and
  /// has length 1 where the model's vectors have [none].
  std::optional<int64_t> window = {};
  /// The tokens of the text that a window has in common with the one before: fewer than it has.
  int64_t overlap = 0;
  /// Largest number of tokens of a batch; 0: 512, on a GPU 16,384. Does not change results.
  int64_t batch_tokens = 0;

  bool operator==(const EmbedOptions&) const = default;
};

/// A window of a text, and its vector.
struct WindowEmbedding {
  int64_t tokens = 0;  // of the text, without special tokens and the prompt
  /// The part of the text, in characters (Unicode code points): the first, and the one after the
  /// last.
  int64_t start = 0, end = 0;
  std::vector<float> vector;  // [D]

  bool operator==(const WindowEmbedding&) const = default;
};

/// A vector with an element for each token of the vocabulary, most of them zero (SPLADE, Formal et
/// al. 2021; BGE-M3, Chen et al. 2024).
struct SparseEmbedding {
  std::vector<int32_t> indices;  // the tokens with an element above zero, ascending
  std::vector<float> values;     // their elements

  bool operator==(const SparseEmbedding&) const = default;
};

/// A vector for each token of a text (late interaction: ColBERT, Khattab and Zaharia 2020).
struct MultiVectorEmbedding {
  std::vector<int32_t> tokens;  // those that have a vector
  int64_t dimension = 0;        // elements of each vector
  std::vector<float> values;    // [tokens.size(), dimension]

  bool operator==(const MultiVectorEmbedding&) const = default;
};

/// The score of a document for a query (MaxSim): for each vector of the query the largest inner
/// product with a vector of the document, summed. Throws InputError when their dimensions differ or
/// the document has no vectors.
HEED_EXPORT double max_sim(const MultiVectorEmbedding& query, const MultiVectorEmbedding& document);
/// The sum of the products of equal tokens' elements.
HEED_EXPORT double dot(const SparseEmbedding& first, const SparseEmbedding& second);

/// What the files of a model say of its embeddings.
struct EmbedSettings {
  std::vector<Pooling> pooling;  // of the states: their vectors one after the other
  bool normalize = false;        // to length 1
  std::string prompt;            // before each text
  bool include_prompt = true;    // false: the states of the prompt are not pooled
  /// Those that sentence-transformers offers by name ("query", "document").
  std::map<std::string, std::string> prompts = {};
};

}  // namespace heed
