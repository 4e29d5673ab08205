#pragma once

#include "heed/base/declared_option.h"
#include "heed/load_options.h"

// The options of loading a model, each declared once, as those of generation
// (generate/generate_options.h).
namespace heed::engine {

// Beside these LoadOptions has the structs below and what only programs pass.
#define HEED_LOAD_OPTIONS(OPTION)                                                                 \
  OPTION(weights,                                                                                 \
         .help =                                                                                  \
             "Type of the weights: as stored in the file, or converted to this type while "       \
             "loading")                                                                           \
  OPTION(compute,                                                                                 \
         .help =                                                                                  \
             "Arithmetic of matrix products. int8 quantises activations to 8 bits; weights that " \
             "are not quantised become q8_0. auto: int8 if the weights are quantised, else "      \
             "bf16 for weights of 16 bits on a GPU, else f32")                                    \
  OPTION(cache, .help = "Type of the kv cache")                                                   \
  OPTION(device,                                                                                  \
         .help =                                                                                  \
             "Where to compute: cpu, gpu, gpu:N (see heed info --devices), or auto: a GPU that "  \
             "the model fits, else the CPU")                                                      \
  OPTION(random_weights,                                                                          \
         .help =                                                                                  \
             "Initialise the weights randomly from this seed instead of reading them; needs "     \
             "only config.json",                                                                  \
         .served = {0, kMaxSet})                                                                  \
  OPTION(rope_context,                                                                            \
         .help =                                                                                  \
             "Longest text in tokens, of a model with scaled rotary positions. Without it: "      \
             "what linear scaling, llama3 and yarn are made for; where the frequencies depend "   \
             "on it (dynamic, longrope), the original context",                                   \
         .served = {1, kMaxSet})                                                                  \
  OPTION(weight_cache,                                                                            \
         .help =                                                                                  \
             "Local directory where processes that load the same model share packed weights, "    \
             "in a file as large as these")                                                       \
  OPTION(shortlist,                                                                               \
         .help =                                                                                  \
             "Lexical shortlist of a translator (heed shortlist, or Marian's lex.s2t): only "     \
             "tokens that are likely for a source are computed, which is faster and may change "  \
             "translations")

#define HEED_SPECULATION_OPTIONS(OPTION)                                                          \
  OPTION(                                                                                         \
      ngram,                                                                                      \
      .help =                                                                                     \
          "Speculative decoding, which makes outputs that repeat parts of the prompt faster and " \
          "changes none. ngram: drafts what followed the same tokens before, and checks several " \
          "tokens at a time")                                                                     \
  OPTION(                                                                                         \
      draft,                                                                                      \
      .help =                                                                                     \
          "Speculative decoding with the drafts of a smaller model that has the same tokenizer; " \
          "it may be --model itself with --draft-weights")                                        \
  OPTION(draft_weights, .help = "Type of the weights of --draft (default: as stored)")

// The command line has them in one argument, DIR=SCALE.
#define HEED_ADAPTER_OPTIONS(OPTION) \
  OPTION(path)                       \
  OPTION(name)                       \
  OPTION(scale, .served = {-1e6, 1e6})

// The program takes them from the environment. Others than these are for C++ alone.
#define HEED_HUB_OPTIONS(OPTION) \
  OPTION(endpoint)               \
  OPTION(cache)                  \
  OPTION(token)                  \
  OPTION(offline)

HEED_OPTION_TABLE(LoadOption, LoadOptions, HEED_LOAD_OPTIONS)
HEED_OPTION_TABLE(SpeculationOption, SpeculationOptions, HEED_SPECULATION_OPTIONS)
HEED_OPTION_TABLE(AdapterOption, AdapterOptions, HEED_ADAPTER_OPTIONS)
HEED_OPTION_TABLE(HubOption, HubOptions, HEED_HUB_OPTIONS)

}  // namespace heed::engine
