#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generate/sampling.h"
#include "heed/generate/search.h"
#include "heed/model/transformer.h"
#include "heed/text/tokenizer.h"

namespace heed::generate {

struct GeneratorOptions {
  SamplingOptions sampling = {};
  int64_t max_tokens = 256;            // of each output; at least 1
  std::vector<int32_t> end_ids = {};   // tokens that end an output, and are no part of it
  std::vector<std::string> stop = {};  // texts that end an output, and are no part of its text
  /// What the decoder of an encoder-decoder is given behind its start token; -1: nothing.
  int32_t forced_first_id = -1;
  /// Log-probabilities of each token and of so many of the most probable; -1: none at all.
  int top_log_probabilities = -1;
  DType dtype = DType::f32;
  /// What keys and values are kept in: f32, bf16 or q8_0 (see make_caches); without it:
  /// suitable_cache().
  std::optional<DType> cache_dtype = {};
  int64_t batch_tokens = 16384;  // of prompts and outputs that are decoded together
};

/// A token and its natural log-probability under the model, before penalties, biases and
/// temperature.
struct TokenLogProbability {
  int32_t token = 0;
  double log_probability = 0;
};

/// Why an output ended.
enum class Ending {
  end_token,
  stop_string,
  length  // of the output, or of what the model reads
};
/// "end_token", "stop_string" or "length".
std::string_view name_of(Ending ending);

/// The output that follows one prompt.
struct Generation {
  std::vector<int32_t> tokens;  // without the one that ended it
  std::string text;             // empty without a tokenizer
  Ending ending = Ending::length;
  std::vector<TokenLogProbability> chosen;             // as tokens; empty unless asked for
  std::vector<std::vector<TokenLogProbability>> best;  // most probable first; the same
};

/// Lets a model go on with prompts: a decoder alone continues them, an encoder-decoder answers
/// them. What becomes of a prompt depends neither on the others nor on the number of threads.
class Generator {
 public:
  /// Without a tokenizer there are tokens but no texts. The model must outlive this. Throws Error
  /// on options out of range, stop strings without a tokenizer, and a model without decoder or
  /// head.
  Generator(const model::Transformer& model, std::optional<text::Tokenizer> tokenizer,
            GeneratorOptions options);

  /// Called with the number of a prompt in its list and the text that follows what was given
  /// before: whole code points, and nothing that may still become part of a stop string.
  using OnText = std::function<void(size_t prompt, std::string_view text)>;

  /// One output for each prompt. `first_number` is that of the first prompt, by which its random
  /// numbers are drawn. Throws Error on an empty prompt, a token outside the vocabulary, and a
  /// prompt longer than the model reads.
  std::vector<Generation> generate(const std::vector<std::vector<int32_t>>& prompts,
                                   uint64_t first_number = 0, const OnText& on_text = {}) const;

  /// The n best outputs for each prompt by beam search, which knows neither sampling nor stop
  /// strings. Throws Error as above.
  std::vector<std::vector<Hypothesis>> search(const std::vector<std::vector<int32_t>>& prompts,
                                              const SearchOptions& options) const;

 private:
  struct Batch;
  void check_prompts(const std::vector<std::vector<int32_t>>& prompts, uint64_t first_number) const;
  std::vector<std::vector<int64_t>> batches(const std::vector<std::vector<int32_t>>& prompts,
                                            int64_t paths) const;
  Batch make_batch(const std::vector<std::vector<int32_t>>& prompts,
                   const std::vector<int64_t>& members) const;
  int64_t most_tokens(size_t decoder_prompt) const;
  int64_t expected_rows(const Batch& batch) const;

  const model::Transformer& model_;
  std::optional<text::Tokenizer> tokenizer_;
  GeneratorOptions options_;
};

}  // namespace heed::generate
