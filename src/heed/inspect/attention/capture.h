#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "heed/inspect/attention/attention_capture.h"
#include "heed/inspect/attention/attention_input.h"
#include "heed/model/transformer.h"

namespace heed::inspect {

/// The kinds of attention that a model has, in the order in which it computes them.
std::vector<AttentionKind> attention_kinds(const model::Transformer& model);
/// The number of layers with this kind of attention, and of heads of each.
int64_t attention_layers(const model::ModelConfig& config, AttentionKind kind);
int64_t attention_heads(const model::ModelConfig& config, AttentionKind kind);

/// Receives the weights [H, n, Tk] f32 of the queries [first_query, first_query + n) of a layer.
using OnAttentionWeights =
    std::function<void(AttentionSite site, int64_t first_query, const Tensor& weights)>;

/// Runs the model once on the input. Computes the attention weights where `wanted` returns true, in
/// blocks of queries with about 2^22 weights, so that memory does not grow with the square of the
/// length. Throws Error on an input that is empty or exceeds the model's context length.
void observe_attention_weights(const model::Transformer& model, const ModelInput& input,
                               const std::function<bool(AttentionSite site)>& wanted,
                               const OnAttentionWeights& on_weights);

/// The texts and tokens of the stacks that the model has, for display.
AttentionTexts texts_of(const model::Transformer& model, const ModelInput& input);

/// The mean of the heads of the last layer: of cross-attention, or of self-attention if the model
/// has a single stack.
HeadChoice default_choice(const model::Transformer& model);
HeadChoice default_choice(const model::Transformer& model, AttentionKind kind);

/// Throws Error, stating the valid range (counted from 0), when the model has no such kind of
/// attention, layer or head.
void check(const model::Transformer& model, const HeadChoice& choice);

/// Runs the model once on the input and returns the weights of the chosen head for the first
/// `max_keys` keys. Weights that are not finite become 0. Throws Error as check() does, on more
/// than 2^28 weights, and on an input that is empty or exceeds the model's context length.
HeadMap capture_head(const model::Transformer& model, const ModelInput& input,
                     const HeadChoice& choice,
                     int64_t max_keys = std::numeric_limits<int64_t>::max());

/// The weights to capture for a page.
struct CaptureOptions {
  std::optional<AttentionKind> kind = {};  // none: all kinds
  int64_t budget = kPageBudget;            // bytes of the encoded weights
};

/// Runs the model once on the input and captures the weights of all layers and heads, encoded.
/// Throws Error on an input that is empty or exceeds the model's context length.
AttentionCapture capture_attention(const model::Transformer& model, const ModelInput& input,
                                   const CaptureOptions& options = {});

}  // namespace heed::inspect
