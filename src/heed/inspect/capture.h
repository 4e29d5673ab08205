#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "heed/inspect/attention_capture.h"
#include "heed/model/transformer.h"
#include "heed/text/tokenizer.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::inspect {

/// The input of the encoder or the decoder.
struct StackInput {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<std::string> pieces;  // for display, one per id
};

/// The inputs of both stacks. A decoder-only model ignores the source, an encoder-only model the
/// target.
struct ModelInput {
  StackInput source, target;
};

/// A sentence and its translation; an empty `target` is replaced by the model's greedy translation.
/// Throws Error on text that is not UTF-8 or exceeds the model's context length, and on an empty
/// source.
ModelInput read_input(const model::Transformer& model, const text::TranslationTokenizer& tokenizer,
                      const std::string& source, const std::string& target);

/// The input of a model of any family. An encoder-decoder reads `text` and `target` (its greedy
/// output if empty); other models read `text` only. Throws Error as above, and on a target for a
/// model that is not an encoder-decoder.
ModelInput read_input(const model::Transformer& model, const text::Tokenizer& tokenizer,
                      const std::string& text, const std::string& target);

/// The texts and tokens of the stacks that the model has, for display.
AttentionTexts texts_of(const model::Transformer& model, const ModelInput& input);

/// The mean of the heads of the last layer: of cross-attention, or of self-attention if the model
/// has a single stack.
HeadChoice default_choice(const model::Transformer& model);
HeadChoice default_choice(const model::Transformer& model, AttentionKind kind);

/// Throws Error, stating the valid range (counted from 1), when the model has no such kind of
/// attention, layer or head.
void check(const model::Transformer& model, const HeadChoice& choice);

/// Runs the model once on the input and returns the weights of the chosen head for the first
/// `max_keys` keys. Weights that are not finite become 0. Throws Error as check() does, on more
/// than 2^28 weights, and on an input that is empty or exceeds the model's context length.
HeadMap capture_head(const model::Transformer& model, const ModelInput& input,
                     const HeadChoice& choice,
                     int64_t max_keys = std::numeric_limits<int64_t>::max());

/// Which kinds of attention to capture, and the limit in bytes on their encoded weights on a page.
struct CaptureOptions {
  bool encoder_self = true, decoder_self = true, cross = true;
  int64_t budget = kPageBudget;
};

/// Runs the model once on the input and captures the weights of all layers and heads, packed.
/// Throws Error on an input that is empty or exceeds the model's context length.
AttentionCapture capture_attention(const model::Transformer& model, const ModelInput& input,
                                   const CaptureOptions& options = {});

}  // namespace heed::inspect
