#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/embedding.h"
#include "heed/io/model_files.h"
#include "heed/tasks/modules/multi_vector_settings.h"
#include "heed/tasks/modules/splade_settings.h"
#include "heed/tasks/modules/vector_module.h"
#include "heed/tensor/dtype.h"

namespace heed::tasks {

using heed::Pooling;

/// The heads of BGE-M3: files of torch.save.
inline constexpr const char* kLexicalHeadFile = "sparse_linear.pt";
inline constexpr const char* kColbertHeadFile = "colbert_linear.pt";

/// What a model's files and a caller say of its embeddings.
struct EmbedderOptions {
  std::vector<Pooling> pooling = {Pooling::mean};  // their vectors, one after the other; empty: the
                                                   // model makes no single vector of a text
  VectorModules of_tokens = {};                    // of each state, before it is pooled
  VectorModules of_texts = {};                     // of a text's vector, after that
  std::optional<SpladeSettings> splade = {};       // of sparse vectors: the logits of tokens
  std::shared_ptr<const VectorModule> lexical = {};      // or: the weight of each token (BGE-M3)
  std::optional<int64_t> max_active_dims = {};           // of a sparse vector: the largest numbers
  std::optional<MultiVectorSettings> multi_vector = {};  // of a vector for each token
  VectorModules multi_vector_modules = {};               // of these alone, after of_tokens (BGE-M3)
  std::string prompt = {};                               // before each text
  std::map<std::string, std::string> prompts = {};       // that a caller may put there, by name
  bool include_prompt = true;   // false: the states of the prompt are not pooled
  std::string similarity = {};  // how sentence-transformers compares vectors; empty: not said
  int64_t truncate_dim = 0;     // the first numbers of a vector, and not more; 0: all
  bool normalize = false;       // to length 1, after truncate_dim
  int64_t max_seq_length = 0;   // longer texts are truncated; 0: the model's context length
  int64_t window = 0;           // or read in windows of this many tokens; 0: truncated
  int64_t overlap = 0;          // tokens of the text that windows share
  bool truncate_left = false;   // at their beginning, not at their end
  bool lower_case = false;
  std::optional<EmbedTask> task = {};
  int64_t batch_tokens = 0;                // of a batch at most; 0: data::tokens_per_batch()
  DType dtype = DType::f32;                // of the activations
  std::vector<std::string> warnings = {};  // what was ignored in files

  /// Takes what is set in `asked`, for a model with states of `d_model` elements. Throws InputError
  /// when both a prompt and a name of one are given, on an unknown name, on more dimensions
  /// than a vector has, and on an overlap that is not below the window.
  void apply(const EmbedOptions& asked, int64_t d_model);
  /// The text of a prompt by its name. sentence-transformers has empty prompts "query" and
  /// "document" where the files have none. Throws InputError, naming all, when there is no such.
  std::string prompt_named(const std::string& name) const;
  /// Tokens of a text at most for the task, if files say so.
  int64_t length_for_task() const;
  /// Elements of a vector of a model with states of `d_model` elements. Throws Error, naming its
  /// file, when a module reads others than it would get. Where each token has a vector, of these.
  int64_t width(int64_t d_model) const;
  /// The same before vectors are truncated.
  int64_t whole_width(int64_t d_model) const;
  /// Whether the last module scales vectors to length 1.
  bool normalizes() const { return !of_texts.empty() && of_texts.back()->normalizes(); }
};

/// Reads what sentence-transformers reads of a model directory: modules.json, the settings of the
/// modules, config_sentence_transformers.json and read_text_settings(). A directory without
/// modules.json gets its defaults: the mean of the states, or the last one of a causal language
/// model. `context` is the length of the longest text that the model can read, 0 if there is none.
/// Throws Error, naming the file, on a module or a pooling that heed does not apply.
EmbedderOptions read_embedder_options(const io::ModelFiles& files, int64_t context = 0);

/// What the files of sentence-transformers call a pooling.
struct PoolingNames {
  std::string_view flag;  // which all versions read
  std::string_view mode;  // one of "pooling_mode" since version 6
  Pooling pooling;
};
/// In the order in which the flags concatenate poolings.
inline constexpr PoolingNames kPoolingNames[] = {
    {"pooling_mode_cls_token", "cls", Pooling::cls},
    {"pooling_mode_max_tokens", "max", Pooling::max},
    {"pooling_mode_mean_tokens", "mean", Pooling::mean},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", Pooling::mean_sqrt_len_tokens},
    {"pooling_mode_weightedmean_tokens", "weightedmean", Pooling::weightedmean},
    {"pooling_mode_lasttoken", "lasttoken", Pooling::last}};

/// "pooling_type" of a GGUF file; none for a pooling that files cannot say.
std::optional<uint32_t> gguf_pooling_type(Pooling pooling);

}  // namespace heed::tasks
