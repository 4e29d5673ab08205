#pragma once

#include <cstdint>
#include <limits>

#include "heed/inspect/attention/attention_capture.h"
#include "heed/inspect/attention/attention_input.h"
#include "heed/model/transformer.h"

namespace heed::inspect {

using inspect::ModelInput;
using inspect::read_input;
using inspect::StackInput;

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
