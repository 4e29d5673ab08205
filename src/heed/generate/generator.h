#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generate/constrained_output.h"
#include "heed/generate/sampling.h"
#include "heed/generate/search.h"
#include "heed/generate/speculation/drafter.h"
#include "heed/generate/token_rules.h"
#include "heed/generation.h"
#include "heed/model/transformer.h"
#include "heed/text/tokenizer.h"

namespace heed::generate {

using heed::FinishReason;
using heed::Generation;
using heed::TokenLogProbability;

struct GeneratorOptions {
  SamplingOptions sampling = {};
  TokenRules rules = {};                   // with the tokens that end an output; not part of it
  OutputConstraint constraint = {};        // ends an output that it completes
  int64_t max_new_tokens = 256;            // of each output; at least 1
  std::optional<int64_t> max_length = {};  // of prompt and output
  std::vector<std::string> stop = {};      // strings that end an output; not part of its text
  bool skip_special_tokens = true;         // in the text of an output
  /// Reports the log-probability of each token and of this many most probable tokens; -1: none.
  int top_log_probabilities = -1;
  DType dtype = DType::f32;
  /// Type of the kv cache: f32, bf16 or q8_0 (see make_caches()); without it,
  /// default_cache_dtype().
  std::optional<DType> cache_dtype = {};
  /// Prompts wait while those being decoded may need more tokens than this, prompts and outputs.
  int64_t batch_tokens = 16384;
  /// Makes SchedulerOptions::drafter. Empty: there is none.
  std::function<std::shared_ptr<Drafter>()> make_drafter = {};
};

/// Generates an output for each prompt. A decoder-only model continues the prompt; an
/// encoder-decoder reads it with its encoder. An output does not depend on the other prompts or on
/// the number of threads.
class Generator {
 public:
  /// Without a tokenizer, outputs have tokens but no text. The model must outlive this. Throws
  /// Error on options out of range, on stop strings without a tokenizer or not in UTF-8, on a model
  /// without decoder or language model head, and as make_caches() does.
  Generator(const model::Transformer& model, std::optional<text::Tokenizer> tokenizer,
            GeneratorOptions options);

  /// The input for a prompt, for a Scheduler. Throws Error on a prompt that generate() refuses.
  GeneratorInput input(const std::vector<int32_t>& prompt) const;
  const GeneratorOptions& options() const { return options_; }
  const std::optional<text::Tokenizer>& tokenizer() const { return tokenizer_; }

  /// Called with the index of a prompt and the next part of its output: whole code points, none of
  /// which can still become part of a stop string.
  using OnText = std::function<void(size_t prompt, std::string_view text)>;

  /// One output per prompt. Prompts are numbered from `first_number`; the number of a prompt
  /// selects its stream of random numbers. Throws Error on an empty prompt, a token outside the
  /// vocabulary and a prompt longer than the model's context, naming the first such prompt (counted
  /// from 1), and as checked_logits() does.
  std::vector<Generation> generate(const std::vector<std::vector<int32_t>>& prompts,
                                   uint64_t first_number = 0, const OnText& on_text = {}) const;

  /// The n_best outputs per prompt, best first, by beam search, which ignores sampling options and
  /// stop strings. Throws Error as above.
  std::vector<std::vector<Hypothesis>> search(const std::vector<std::vector<int32_t>>& prompts,
                                              const SearchOptions& options,
                                              uint64_t first_number = 0) const;

 private:
  std::vector<GeneratorInput> inputs(const std::vector<std::vector<int32_t>>& prompts,
                                     uint64_t first_number) const;
  int64_t expected_rows(const std::vector<GeneratorInput>& inputs) const;

  const model::Transformer& model_;
  std::optional<text::Tokenizer> tokenizer_;
  GeneratorOptions options_;
};

}  // namespace heed::generate
