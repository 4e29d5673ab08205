#include "heed/inspect/attention/capture.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/error.h"
#include "heed/inspect/attention/attention_blocks.h"

namespace heed::inspect {
namespace {

bool wanted(AttentionSite::Kind kind, const CaptureOptions& options) {
  switch (kind) {
    case AttentionSite::Kind::encoder_self:
      return options.encoder_self;
    case AttentionSite::Kind::decoder_self:
      return options.decoder_self;
    case AttentionSite::Kind::cross:
      return options.cross;
  }
  return false;
}

/// Adds a block of queries of the chosen head, or of the mean of all heads, to the map.
void add_weights(HeadMap& map, int64_t first_query, const Tensor& weights) {
  const int64_t queries = weights.shape()[1], keys = weights.shape()[2];
  const int64_t shown = map.weights.cols();
  const int64_t head = map.choice.head.value_or(0), count = map.choice.head ? 1 : map.heads;
  for (int64_t h = head; h < head + count; ++h)
    for (int64_t q = 0; q < queries; ++q) {
      const float* from = weights.data<float>() + (h * queries + q) * keys;
      float* to = map.weights.data<float>() + (first_query + q) * shown;
      for (int64_t k = 0; k < shown; ++k)
        if (std::isfinite(from[k])) to[k] += from[k] / static_cast<float>(count);
    }
}

}  // namespace

AttentionTexts texts_of(const model::Transformer& model, const ModelInput& input) {
  AttentionTexts texts;
  if (model.has_encoder()) {
    texts.source_text = input.source.text;
    texts.source_tokens = input.source.pieces;
  }
  if (model.has_decoder()) {
    texts.target_text = input.target.text;
    texts.target_tokens = input.target.pieces;
  }
  return texts;
}

HeadChoice default_choice(const model::Transformer& model) {
  if (!model.has_decoder()) return default_choice(model, AttentionKind::encoder_self);
  return default_choice(model,
                        model.has_encoder() ? AttentionKind::cross : AttentionKind::decoder_self);
}

HeadChoice default_choice(const model::Transformer& model, AttentionKind kind) {
  return {.kind = kind,
          .layer = static_cast<int>(inspect::attention_layers(model.config(), kind)) - 1};
}

void check(const model::Transformer& model, const HeadChoice& choice) {
  const auto& [kind, layer, head] = choice;
  const bool in_encoder = kind == AttentionKind::encoder_self;
  const bool present = in_encoder                     ? model.has_encoder()
                       : kind == AttentionKind::cross ? model.has_encoder() && model.has_decoder()
                                                      : model.has_decoder();
  require(present, "the model has no {} attention: it is {}", name_of(kind),
          model.has_encoder() ? "encoder-only" : "decoder-only");
  const int64_t layers = inspect::attention_layers(model.config(), kind),
                heads = inspect::attention_heads(model.config(), kind);
  require(layer >= 0 && layer < layers, "layer is {}, expected 1 to {}, the layers of the {}",
          int64_t{layer} + 1, layers, in_encoder ? "encoder" : "decoder");
  require(!head || (*head >= 0 && *head < heads), "head is {}, expected 1 to {}",
          int64_t{head.value_or(0)} + 1, heads);
}

HeadMap capture_head(const model::Transformer& model, const ModelInput& input,
                     const HeadChoice& choice, int64_t max_keys) {
  constexpr int64_t kMaxWeights = int64_t{1} << 28;
  check(model, choice);
  const AttentionTexts texts = texts_of(model, input);
  const auto queries = std::ssize(query_tokens(texts, choice.kind));
  const auto keys = std::min<int64_t>(std::ssize(key_tokens(texts, choice.kind)), max_keys);
  require(
      keys == 0 || queries <= kMaxWeights / keys,
      "the attention of {} queries to {} keys is too large to show, expected at most {} weights",
      queries, keys, kMaxWeights);
  HeadMap map{choice, inspect::attention_heads(model.config(), choice.kind),
              Tensor::zeros({queries, keys})};
  inspect::observe_attention(
      model, input, [&](AttentionSite site, const kernels::AttentionForward& forward) {
        if (site.kind != choice.kind || site.layer != choice.layer) return;
        inspect::visit_attention_weights(forward, [&](int64_t first_query, const Tensor& weights) {
          add_weights(map, first_query, weights);
        });
      });
  return map;
}

AttentionCapture capture_attention(const model::Transformer& model, const ModelInput& input,
                                   const CaptureOptions& options) {
  AttentionPacker packer(options.budget);
  inspect::observe_attention(
      model, input, [&](AttentionSite site, const kernels::AttentionForward& forward) {
        if (!wanted(site.kind, options)) return;
        inspect::visit_attention_weights(
            forward, [&](int64_t, const Tensor& weights) { packer.add(site, weights); });
      });
  return {texts_of(model, input), packer.finish()};
}

}  // namespace heed::inspect
