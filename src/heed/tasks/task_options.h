#pragma once

#include "heed/attention.h"
#include "heed/base/declared_option.h"
#include "heed/classification.h"
#include "heed/embedding.h"
#include "heed/score.h"

// The options of what models do without generating, each declared once, as those of generation
// (generate/generate_options.h).
namespace heed::tasks {

#define HEED_EMBED_OPTIONS(OPTION)                                                                 \
  OPTION(pooling,                                                                                  \
         .help =                                                                                   \
             "How the hidden states of the tokens become one vector (default: from modules.json; " \
             "without it last for a causal language model, else mean)")                            \
  OPTION(normalize, .help = "Scale vectors to length 1 (default: from modules.json)")              \
  OPTION(prompt, .help =                                                                           \
                     "Text before each text (default: the default prompt of "                      \
                     "config_sentence_transformers.json)")                                         \
  OPTION(prompt_name,                                                                              \
         .help =                                                                                   \
             "The prompt of this name in config_sentence_transformers.json, such as query or "     \
             "document")                                                                           \
  OPTION(task,                                                                                     \
         .help =                                                                                   \
             "What the texts are for: selects the prompt of that name and, for a model with a "    \
             "vector for each token, lengths and the expansion of queries")                        \
  OPTION(dimensions,                                                                               \
         .help =                                                                                   \
             "The first numbers of a vector, for models trained with Matryoshka losses "           \
             "(default: truncate_dim of config_sentence_transformers.json, else all)",             \
         .range = {1}, .typed = {1, kMaxTyped})                                                    \
  OPTION(                                                                                          \
      max_seq_length,                                                                              \
      .help =                                                                                      \
          "Truncate texts to this many tokens (default: max_seq_length of "                        \
          "sentence_bert_config.json, else model_max_length of tokenizer_config.json, else the "   \
          "model's context length)",                                                               \
      .range = {1}, .typed = {1, kMaxTyped})                                                       \
  OPTION(window,                                                                                   \
         .help =                                                                                   \
             "Read longer texts in windows of this many tokens, special tokens and the prompt "    \
             "included, and pool their vectors, instead of truncating the texts",                  \
         .range = {1}, .typed = {1, kMaxTyped})                                                    \
  OPTION(overlap, .help = "Tokens that a window has in common with the one before (default: 0)",   \
         .range = {0}, .typed = {0, kMaxTyped})                                                    \
  OPTION(batch_tokens,                                                                             \
         .help = "Tokens per batch; does not change results (default: 512, on a GPU 16384)",       \
         .range = {0, kMaxBatchTokens}, .typed = {1, kMaxTyped})

// max_seq_length is also at most the context length of the model.
#define HEED_CLASSIFY_OPTIONS(OPTION)                                                        \
  OPTION(max_seq_length,                                                                     \
         .help =                                                                             \
             "Truncate texts to this many tokens (default: model_max_length of "             \
             "tokenizer_config.json, else the model's context length)",                      \
         .range = {1}, .typed = {1, kMaxTyped})                                              \
  OPTION(prompt, .help =                                                                     \
                     "Text before the query, or the instruction of a language model that "   \
                     "answers yes or no (default: the model's own)")                         \
  OPTION(batch_tokens,                                                                       \
         .help = "Tokens per batch; does not change results (default: 512, on a GPU 16384)", \
         .range = {0, kMaxBatchTokens}, .typed = {1, kMaxTyped})

// The context length of the model bounds the window, and the window the stride.
#define HEED_SCORE_OPTIONS(OPTION)                                                           \
  OPTION(window, .help = "Tokens per window (default: the model's context length)",          \
         .typed = {1, kMaxTyped})                                                            \
  OPTION(stride,                                                                             \
         .help = "Tokens between the starts of successive windows (default: half a window)", \
         .typed = {1, kMaxTyped})

// The model has the layers and the heads that it has.
#define HEED_ATTENTION_OPTIONS(OPTION)                                                             \
  OPTION(target,                                                                                   \
         .help = "Input of the decoder of an encoder-decoder (default: its greedy output)")        \
  OPTION(source_language)                                                                          \
  OPTION(target_language)                                                                          \
  OPTION(                                                                                          \
      kind,                                                                                        \
      .help = "Kind of attention for figure and terminal (default: cross for an encoder-decoder)") \
  OPTION(layer, .help = "Layer for figure and terminal, counted from 0 (default: the last)",       \
         .typed = {0, kMaxTyped}, .served = {0, 10'000})                                           \
  OPTION(head,                                                                                     \
         .help = "Head for figure and terminal, counted from 0 (default: the mean of all heads)",  \
         .typed = {0, kMaxTyped}, .served = {0, 10'000})                                           \
  OPTION(max_weights)

HEED_OPTION_TABLE(EmbedOption, EmbedOptions, HEED_EMBED_OPTIONS)
HEED_OPTION_TABLE(ClassifyOption, ClassifyOptions, HEED_CLASSIFY_OPTIONS)
HEED_OPTION_TABLE(ScoreOption, ScoreOptions, HEED_SCORE_OPTIONS)
HEED_OPTION_TABLE(AttentionOption, AttentionOptions, HEED_ATTENTION_OPTIONS)

}  // namespace heed::tasks
