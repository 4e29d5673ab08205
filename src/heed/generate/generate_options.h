#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/declared_option.h"
#include "heed/generation.h"
#include "heed/search.h"
#include "heed/translation.h"

// The options of generation, searches and translation, each declared once. CONTRIBUTING.md says how
// to add one; tests/cli/option_faces_test.cc names the places that are left.
namespace heed::generate {

using heed::TokenBias;

/// How the next token is chosen from a row of logits: what a request asks for and, without that,
/// what the model's files suggest.
struct SamplingOptions {
  /// Divides positive logits and multiplies negative logits of tokens in the prompt or the output
  /// (Keskar et al. 2019); 1: off.
  float repetition_penalty = 1.0f;
  float presence_penalty = 0.0f;   // subtracted from the logits of tokens in the output
  float frequency_penalty = 0.0f;  // subtracted once per occurrence in the output
  std::vector<TokenBias> logit_bias = {};
  float temperature = 0.0f;  // logits are divided by it; 0: greedy
  int64_t top_k = 0;         // sample from the k most probable tokens; 0: all
  float top_p = 1.0f;  // sample from the smallest set with probability p (Holtzman et al. 2020)
  float min_p = 0.0f;  // exclude tokens less probable than min_p times the most probable
  uint64_t seed = 1;
};

/// Whether setting an option asks for sampling. Those that do are read from the model's files.
enum class SamplingUse { samples, penalizes };

// Numbers, in the order of --help. SamplingUse::samples:
#define HEED_SAMPLING_OPTIONS(OPTION)                                                             \
  OPTION(temperature,                                                                             \
         .help = "Sampling temperature, which divides the logits; 0 (default): greedy decoding",  \
         .range = {0, 1000}, .served = {0, 100})                                                  \
  OPTION(top_k, .help = "Sample from the k most probable tokens; 0: all", .range = {0},           \
         .typed = {0, kMaxTyped}, .served = {0, kMaxServed})                                      \
  OPTION(top_p,                                                                                   \
         .help = "Sample from the smallest set of most probable tokens with total probability p", \
         .range = {0, 1, true}, .typed = {1e-6, 1})                                               \
  OPTION(min_p, .help = "Exclude tokens with less than this fraction of the highest probability", \
         .range = {0, 1})
// SamplingUse::penalizes:
#define HEED_PENALTY_OPTIONS(OPTION)                                                             \
  OPTION(repetition_penalty,                                                                     \
         .help = "Makes tokens of prompt and output less probable (Keskar et al. 2019); 1: off", \
         .range = {0, 1000, true}, .typed = {1e-3, 1000}, .served = {0.01, 100})                 \
  OPTION(presence_penalty, .help = "Subtracted from the logits of tokens in the output",         \
         .range = {-100, 100})                                                                   \
  OPTION(frequency_penalty,                                                                      \
         .help = "Subtracted from the logits of tokens for each occurrence in the output",       \
         .range = {-100, 100})

#define HEED_OTHER_GENERATE_OPTIONS(OPTION)                                                        \
  OPTION(max_new_tokens, .help = "Maximum number of tokens to generate",                           \
         .range = {1, kMaxBatchTokens}, .typed = {1, kMaxTyped}, .served = {1, kMaxServed})        \
  OPTION(min_new_tokens, .help = "Number of tokens before which no token ends an output",          \
         .range = {0, kMaxBatchTokens}, .typed = {0, kMaxTyped}, .served = {0, kMaxServed})        \
  OPTION(sample, .help = "Sample with the settings of generation_config.json")                     \
  OPTION(seed, .help = "Random seed", .range = {0})                                                \
  OPTION(skip_special_tokens, .help = "Leave special tokens out of the text of the output")        \
  OPTION(top_log_probabilities,                                                                    \
         .help =                                                                                   \
             "Add the log-probability of each token, and those of this many most probable "        \
             "tokens",                                                                             \
         .range = {-1}, .typed = {0, 1000}, .served = {0, 20})                                     \
  OPTION(batch_tokens, .help = "Tokens of prompts and outputs per batch; does not change results", \
         .range = {1, kMaxBatchTokens}, .typed = {1, kMaxTyped})
// Each of these is an array in C.
#define HEED_GENERATE_LISTS(OPTION)                                                              \
  OPTION(                                                                                        \
      logit_bias,                                                                                \
      .help = "ID:BIAS adds BIAS to the logit of token ID; -inf forbids the token (repeatable)") \
  OPTION(stop, .help = "String that ends the output; it is not printed (repeatable)")            \
  OPTION(end_tokens, .help = "Tokens that end the output, besides those of the model")

#define HEED_GENERATE_OPTIONS(OPTION) \
  HEED_SAMPLING_OPTIONS(OPTION)       \
  HEED_PENALTY_OPTIONS(OPTION)        \
  HEED_OTHER_GENERATE_OPTIONS(OPTION) \
  HEED_GENERATE_LISTS(OPTION)

#define HEED_STRUCTURED_OUTPUT_VALUES(OPTION)                                                      \
  OPTION(json_schema, .help = "The output is JSON that this file's JSON Schema allows")            \
  OPTION(json_white_space, .key = "white_space",                                                   \
         .help =                                                                                   \
             "White space between the tokens of that JSON: free (default), compact (none) or "     \
             "spaced (as Python's json.dumps)")                                                    \
  OPTION(regex, .help = "The output matches this regular expression (ECMA-262) as a whole")        \
  OPTION(gbnf, .help = "The output is derived by this grammar, as llama.cpp has it")               \
  OPTION(lark, .help = "The output is derived by this grammar, as the Python package Lark has it") \
  OPTION(complete,                                                                                 \
         .help =                                                                                   \
             "Complete an output that has to match within the limit of its tokens, by the "        \
             "shortest text that is valid")                                                        \
  OPTION(free_log_probabilities,                                                                   \
         .help =                                                                                   \
             "Log-probabilities of an output that has to match over all tokens, not over those "   \
             "that may follow")
// An array in C.
#define HEED_STRUCTURED_OUTPUT_LISTS(OPTION) \
  OPTION(choice, .help = "The output is one of these texts, separated by commas")

#define HEED_STRUCTURED_OUTPUTS(OPTION) \
  HEED_STRUCTURED_OUTPUT_VALUES(OPTION) \
  HEED_STRUCTURED_OUTPUT_LISTS(OPTION)

// n_best is also at most num_beams.
#define HEED_SEARCH_OPTIONS(OPTION)                                                              \
  OPTION(num_beams, .help = "Number of beams; 1: greedy search", .range = {1, kMaxBeams})        \
  OPTION(n_best, .help = "Outputs per input, best first", .range = {1, kMaxBeams})               \
  OPTION(length_penalty,                                                                         \
         .help = "Exponent alpha of the length penalty ((5 + length) / 6)^alpha; 0: none",       \
         .served = {-100, 100})                                                                  \
  OPTION(max_new_tokens,                                                                         \
         .help =                                                                                 \
             "Maximum number of tokens per translation (default: those of the source plus "      \
             "--max-new-tokens-over-source)",                                                    \
         .range = {1, kMaxTyped})                                                                \
  OPTION(                                                                                        \
      max_new_tokens_over_source,                                                                \
      .help = "Maximum number of tokens that a translation may have beyond those of its source", \
      .range = {0, kMaxTyped})                                                                   \
  OPTION(scores, .help = "Compute scores in greedy search, too")

// Beside these TranslateOptions has SearchOptions.
#define HEED_TRANSLATE_VALUES(OPTION)                                                             \
  OPTION(source_language,                                                                         \
         .help =                                                                                  \
             "Language of the input, for multilingual models, by the code of the model's "        \
             "tokenizer (en, en_XX, eng_Latn); auto: that of each line")                          \
  OPTION(target_language, .help = "Language to translate into, likewise")                         \
  OPTION(via, .help =                                                                             \
                  "Translate into this language first (en), and from there into the target, for " \
                  "pairs that a model knows badly or that need two models (--then)")              \
  OPTION(alignments, .help = "Also print word alignments, taken from cross-attention")            \
  OPTION(confidence,                                                                              \
         .help =                                                                                  \
             "Also print the probability that a translation is right, and with --json that of "   \
             "each word; the model must be calibrated: heed evaluate confidence")                 \
  OPTION(batch_tokens,                                                                            \
         .help =                                                                                  \
             "Source tokens times beams per batch; does not change results (default: 2048 for "   \
             "quantised weights, else 8192; on a GPU 16384)")
// Each of these is an array in C.
#define HEED_TRANSLATE_LISTS(OPTION)                                                              \
  OPTION(glossary,                                                                                \
         .help =                                                                                  \
             "File of terms and how they must be translated, one per line: source, tab, targets " \
             "with \" | \" between them, perhaps a tab and match_case")                           \
  OPTION(do_not_translate,                                                                        \
         .help = "Term that stays as it is, in the case that is given (repeatable)")

#define HEED_TRANSLATE_OPTIONS(OPTION) \
  HEED_TRANSLATE_VALUES(OPTION)        \
  HEED_TRANSLATE_LISTS(OPTION)

// Beside these DocumentOptions has TranslateOptions.
#define HEED_DOCUMENT_OPTIONS(OPTION)                                                              \
  OPTION(                                                                                          \
      format,                                                                                      \
      .help = "What a document is written in: text, html, xml, markdown, srt, vtt, po or xliff")   \
  OPTION(sentence_language,                                                                        \
         .help =                                                                                   \
             "Language whose abbreviations do not end sentences (default: that of the input, or "  \
             "all)")                                                                               \
  OPTION(max_sentence_tokens,                                                                      \
         .help = "Cut longer sentences at clauses (default: the longest of the training, or 128)", \
         .range = {0, kMaxTyped}, .typed = {1, kMaxTyped})                                         \
  OPTION(translate_placeholders,                                                                   \
         .help = "Translate placeholders, URLs and e-mail addresses as words")                     \
  OPTION(keep_numbers, .help = "Leave numbers unchanged, too")

HEED_OPTION_TABLE(GenerateOption, GenerateOptions, HEED_GENERATE_OPTIONS)
HEED_OPTION_TABLE(StructuredOutputOption, StructuredOutput, HEED_STRUCTURED_OUTPUTS)
HEED_OPTION_TABLE(SearchOption, SearchOptions, HEED_SEARCH_OPTIONS)
HEED_OPTION_TABLE(TranslateOption, TranslateOptions, HEED_TRANSLATE_OPTIONS)
HEED_OPTION_TABLE(DocumentOption, DocumentOptions, HEED_DOCUMENT_OPTIONS)

/// Sets the grammar that outputs are derived by: GBNF, which has "::=" behind the names of its
/// rules, or else Lark, which has ":".
inline void set_grammar(StructuredOutput& output, std::string grammar) {
  const bool is_gbnf = grammar.find("::=") != grammar.npos;
  (is_gbnf ? output.gbnf : output.lark) = std::move(grammar);
}

/// A number of sampling.
template <typename Value>
struct SamplingOption : DeclaredOption<GenerateOptions, Value> {
  using Number = typename DeclaredOption<GenerateOptions, Value>::Number;

  SamplingUse use;
  Number SamplingOptions::*resolved;

  /// What a request asks for; nothing if the field is not set.
  std::optional<Number> asked(const GenerateOptions& options) const {
    return options.*(this->field);
  }
};

/// Calls `visit` with each SamplingOption.
template <typename Visit>
void for_each_sampling_option(const Visit& visit) {
  SamplingUse use = SamplingUse::samples;
  const auto visit_row = [&]<typename Value>(const DeclaredOption<GenerateOptions, Value>& row,
                                             auto resolved) {
    visit(SamplingOption<Value>{row, use, resolved});
  };
#define HEED_VISIT_ROW(option, ...) visit_row(GenerateOption::option, &SamplingOptions::option);
  HEED_SAMPLING_OPTIONS(HEED_VISIT_ROW)
  use = SamplingUse::penalizes;
  HEED_PENALTY_OPTIONS(HEED_VISIT_ROW)
#undef HEED_VISIT_ROW
}

}  // namespace heed::generate
