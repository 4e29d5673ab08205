#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/embedding.h"
#include "heed/io/model_files.h"
#include "heed/model/transformer.h"
#include "heed/tasks/modules/vector_module.h"
#include "heed/tasks/text_tokens.h"
#include "heed/text/tokenizer.h"

namespace heed::tasks {

using heed::Pooling;

struct EmbedderOptions {
  std::vector<Pooling> pooling = {Pooling::mean};   // their vectors, one after the other
  VectorModules of_tokens = {};                     // of each state, before it is pooled
  VectorModules of_texts = {};                      // of a text's vector, after that
  std::string prompt = {};                          // before each text
  std::map<std::string, std::string> prompts = {};  // that a caller may put there, by name
  bool include_prompt = true;  // false: the states of the prompt are not pooled
  int64_t truncate_dim = 0;    // the first numbers of a vector, and not more; 0: all
  bool normalize = false;      // to length 1, after truncate_dim
  int64_t max_seq_length = 0;  // longer texts are truncated; 0: the model's context length
  bool truncate_left = false;  // at their beginning, not at their end
  bool lower_case = false;
  int64_t batch_tokens = 0;                // of a batch at most; 0: data::tokens_per_batch()
  DType dtype = DType::f32;                // of the activations
  std::vector<std::string> warnings = {};  // what was ignored in files

  /// Takes what is set in `asked`, for a model with states of `d_model` elements. Throws InputError
  /// when both a prompt and a name of one are given, on an unknown name, and on more dimensions
  /// than a vector has.
  void apply(const EmbedOptions& asked, int64_t d_model);
  /// The text of a prompt by its name. sentence-transformers has empty prompts "query" and
  /// "document" where the files have none. Throws InputError, naming all, when there is no such.
  std::string prompt_named(const std::string& name) const;
  /// Elements of a vector of a model with states of `d_model` elements. Throws Error, naming its
  /// file, when a module reads others than it would get.
  int64_t width(int64_t d_model) const;
  /// Whether the last module scales vectors to length 1.
  bool normalizes() const { return !of_texts.empty() && of_texts.back()->normalizes(); }
};

/// Reads what sentence-transformers reads of a model directory: modules.json, the settings of the
/// modules, config_sentence_transformers.json and read_text_settings(). A directory without
/// modules.json gets its defaults: the mean of the states, or the last one of a causal language
/// model. `context` is the length of the longest text that the model can read, 0 if there is none.
/// Throws Error, naming the file, on a module or a pooling that heed does not apply.
EmbedderOptions read_embedder_options(const io::ModelFiles& files, int64_t context = 0);

/// "pooling_type" of a GGUF file; none for a pooling that files cannot say.
std::optional<uint32_t> gguf_pooling_type(Pooling pooling);

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

  /// The tokens of a text with the prompt before it, truncated to max_tokens(); special tokens are
  /// never truncated.
  std::vector<int32_t> tokens(const std::string& text) const;
  /// How many there are before they are truncated.
  int64_t count_tokens(const std::string& text) const;
  /// max_seq_length, or the model's context length; 0: not limited.
  int64_t max_tokens() const { return options_.max_seq_length; }
  /// Numbers of a vector.
  int64_t dimension() const { return dimension_; }

 private:
  TokenLimit limit() const { return {options_.max_seq_length, options_.truncate_left}; }
  std::string whole_text(const std::string& text) const;
  int64_t count_prompt_tokens() const;
  Tensor pooled_texts(const Tensor& states, std::span<const int32_t> offsets) const;
  std::vector<std::vector<int32_t>> read(const std::vector<std::string>& texts,
                                         int64_t first_number) const;
  void embed_tokens(const std::vector<std::vector<int32_t>>& texts,
                    std::span<float> embeddings) const;
  void embed_batch(const std::vector<std::vector<int32_t>>& texts, std::span<const int64_t> members,
                   std::span<float> embeddings) const;

  const model::Transformer* model_;
  text::Tokenizer tokenizer_;
  EmbedderOptions options_;
  int64_t dimension_ = 0;
  int64_t unpooled_ = 0;  // the first tokens of a text, whose states are not pooled
};

}  // namespace heed::tasks
