#pragma once

#include "heed/base/declared_option.h"
#include "heed/tokenizer.h"

// The options of tokenizers, each declared once, as those of generation
// (generate/generate_options.h).
namespace heed::text {

#define HEED_TRAIN_TOKENIZER_NUMBERS(OPTION)                                                   \
  OPTION(vocab_size, .help = "Number of pieces", .typed = {8, 1 << 24})                        \
  OPTION(min_frequency, .help = "byte-level-bpe joins no pieces that are together less often", \
         .typed = {0, kMaxTyped})                                                              \
  OPTION(character_coverage)
#define HEED_TRAIN_TOKENIZER_OPTIONS(OPTION)                                                       \
  HEED_TRAIN_TOKENIZER_NUMBERS(OPTION)                                                             \
  OPTION(kind, .help =                                                                             \
                   "bpe, unigram: of characters, by SentencePiece; byte-level-bpe: of bytes, as "  \
                   "Python's tokenizers does it")                                                  \
  OPTION(special_tokens, .help = "Token of byte-level-bpe that text is not cut into (repeatable)") \
  OPTION(pre_tokenizer,                                                                            \
         .help =                                                                                   \
             "How byte-level-bpe cuts words, by llama.cpp's name: gpt-2, llama-bpe, qwen2, "       \
             "gpt-4o, ...")

HEED_OPTION_TABLE(TrainTokenizerOption, TrainTokenizerOptions, HEED_TRAIN_TOKENIZER_OPTIONS)

}  // namespace heed::text
