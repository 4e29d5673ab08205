#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace heed {

/// The pooling of the hidden states of a text's tokens to one vector.
enum class Pooling {
  mean,
  cls,     // the first token's state
  max,     // the maximum of each dimension
  pooler,  // tanh of a linear map of the first token's state (BERT's pooler)
  last     // the last token's state
};

/// "mean", "cls", "max", "pooler" or "last".
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
  }
  return "?";
}

/// How texts become vectors. What is not set comes from the files of a sentence-transformers
/// directory; without them, the default in brackets holds.
struct EmbedOptions {
  std::optional<Pooling> pooling = {};  // [mean; last for a causal language model]
  std::optional<bool> normalize = {};   // to length 1 [false]
  /// Longer texts are truncated to this many tokens; at least 1 [model_max_length of
  /// tokenizer_config.json, or the model's context length].
  std::optional<int64_t> max_seq_length = {};
  /// Largest number of tokens of a batch; 0: 512, on a GPU 16,384. Does not change results.
  int64_t batch_tokens = 0;

  bool operator==(const EmbedOptions&) const = default;
};

/// What the files of a model say of its embeddings.
struct EmbedSettings {
  Pooling pooling = Pooling::mean;  // of the states
  bool normalize = false;           // to length 1
  std::string prompt;               // before each text
  bool include_prompt = true;       // false: the states of the prompt are not pooled
  /// Those that sentence-transformers offers by name ("query", "document").
  std::map<std::string, std::string> prompts = {};
};

}  // namespace heed
