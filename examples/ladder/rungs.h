#pragma once

// The rungs that learn, from the average to the Transformer. Up to the last, they differ in nothing
// but how much each word counts.

#include <string>
#include <vector>

#include "heed/nn/transformer_layer.h"
#include "heed/ops/attention.h"
#include "heed/ops/embedding.h"
#include "ladder/rung.h"

namespace ladder {

/// (1/n) sum w_i. Softmax of equal scores is an equal share: attention without questions.
struct Average : Rung {
  using Rung::Rung;
  Tensor state(Context& context, const Windows& in) override {
    const Tensor x = embed(context, in);
    const Tensor nothing = Tensor::zeros({x.rows(), 1});
    return heed::ops::attention(
        context,
        {.q = nothing, .k = nothing, .v = x, .spans = in.spans, .options = {.causal = true}});
  }
};

/// sum c_i w_i / sum c_i, where log c_i = (of the word) + (of its place): learned, but the same
/// whatever is asked. Softmax of log c_i is c_i / sum c_i: attention in which all ask alike.
struct FixedWeights : Rung {
  using Rung::Rung;
  Parameter& of_word = parameters.create("of_word", {vocabulary, 1}, Initializer::zeros());
  Parameter& of_place = parameters.create("of_place", {kWindow, 1}, Initializer::zeros());
  Tensor state(Context& context, const Windows& in) override {
    const Tensor x = embed(context, in);
    const Tensor log_c =
        heed::ops::embedding(context, {in.words, in.places}, of_word, 1.0f, {{}, &of_place});
    const Tensor same = Tensor::full({x.rows(), 1}, 1.0f);
    return heed::ops::attention(
        context, {.q = same, .k = log_c, .v = x, .spans = in.spans, .options = {.causal = true}});
  }
};

inline heed::nn::Attention::Settings heads(int64_t n) {
  return {.d_model = kWidth,
          .n_heads = n,
          .n_kv_heads = n,
          .d_head = kWidth / n,
          .d_value = kWidth / n,
          .causal = true};
}

/// Each word asks for what it needs: softmax(q k / sqrt(d)) v, one head as wide as the words.
struct OneHead : Rung {
  using Rung::Rung;
  Parameter& places = parameters.create("places", {kWindow, kWidth}, Initializer::normal(0.1f));
  heed::nn::Attention attention{parameters, "attention", heads(1), {}};
  Tensor state(Context& context, const Windows& in) override {
    const Tensor x = embed(context, in, &places);
    return attention.attend(context, x, attention.keys_values(context, x, {}), in.spans, {});
  }
};

/// A decoder of two layers: four heads, residual connections, normalisation, feed-forward.
struct SmallTransformer : Rung {
  explicit SmallTransformer(int64_t v) : Rung(v) {
    for (int i = 0; i < 2; ++i)
      layers.emplace_back(parameters, "layer" + std::to_string(i), settings(), i);
  }
  static heed::nn::TransformerLayer::Settings settings() {
    return {.attention = heads(4),
            .feed_forward = {.d_model = kWidth, .d_ff = 4 * kWidth},
            .norm = {.d_model = kWidth},
            .placement = heed::nn::NormPlacement::pre,
            .decoder = true};
  }
  Parameter& places = parameters.create("places", {kWindow, kWidth}, Initializer::normal(0.1f));
  heed::nn::Norm norm{parameters, "norm", {.d_model = kWidth}};
  std::vector<heed::nn::TransformerLayer> layers;
  Tensor state(Context& context, const Windows& in) override {
    Tensor x = embed(context, in, &places);
    for (const auto& layer : layers) {
      heed::nn::KeyValueCache forgotten;
      x = layer.forward(context, x, {forgotten, in.spans, {}, {}, in.spans});
    }
    return norm.forward(context, x);
  }
};

}  // namespace ladder
