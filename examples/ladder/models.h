#pragma once

// The trained models, from the average to the Transformer. All but the last differ only in the
// weight that they give each word.

#include <string>
#include <vector>

#include "heed/nn/transformer_layer.h"
#include "heed/ops/attention.h"
#include "heed/ops/embedding.h"
#include "ladder/model.h"

namespace ladder {

/// (1/n) sum w_i. The softmax of equal scores is uniform: attention with constant queries and keys.
struct Average : Model {
  using Model::Model;
  Tensor states(Context& context, const Windows& in) override {
    const Tensor x = embed(context, in);
    const Tensor zeros = Tensor::zeros({x.rows(), 1});
    return heed::ops::attention(
        context, {.q = zeros, .k = zeros, .v = x, .spans = in.spans, .options = {.causal = true}});
  }
};

/// sum c_i w_i / sum c_i with log c_i = word_score + position_score. Both scores are learned but do
/// not depend on the word that reads. The softmax of log c_i is c_i / sum c_i: attention with a
/// constant query.
struct FixedWeights : Model {
  using Model::Model;
  Parameter& word_score = parameters.create("word_score", {vocabulary, 1}, Initializer::zeros(),
                                            WeightRole::token_embedding);
  Parameter& position_score = parameters.create(
      "position_score", {kWindow, 1}, Initializer::zeros(), WeightRole::position_embedding);
  Tensor states(Context& context, const Windows& in) override {
    const Tensor x = embed(context, in);
    const Tensor log_c = heed::ops::embedding(context, {in.words, in.positions}, word_score, 1.0f,
                                              {{}, &position_score});
    const Tensor ones = Tensor::full({x.rows(), 1}, 1.0f);
    return heed::ops::attention(
        context, {.q = ones, .k = log_c, .v = x, .spans = in.spans, .options = {.causal = true}});
  }
};

inline heed::nn::Attention::Settings heads(int64_t n) {
  return {.d_model = kWidth,
          .n_heads = n,
          .n_kv_heads = n,
          .head_dim = kWidth / n,
          .v_head_dim = kWidth / n,
          .causal = true};
}

/// The weights depend on both words: softmax(q k / sqrt(d)) v with one head of width D.
struct OneHead : Model {
  using Model::Model;
  Parameter& position_table = parameters.create(
      "positions", {kWindow, kWidth}, Initializer::normal(0.1f), WeightRole::position_embedding);
  heed::nn::Attention attention{parameters, "attention", heads(1), {}};
  Tensor states(Context& context, const Windows& in) override {
    const Tensor x = embed(context, in, &position_table);
    return attention.attend(context, x, attention.keys_values(context, x, {}), in.spans, {});
  }
};

/// A decoder with two layers: four heads, residual connections, normalisation and feed-forward.
struct SmallTransformer : Model {
  explicit SmallTransformer(int64_t v) : Model(v) {
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
  Parameter& position_table = parameters.create(
      "positions", {kWindow, kWidth}, Initializer::normal(0.1f), WeightRole::position_embedding);
  heed::nn::Norm norm{parameters, "norm", {.d_model = kWidth}};
  std::vector<heed::nn::TransformerLayer> layers;
  Tensor states(Context& context, const Windows& in) override {
    Tensor x = embed(context, in, &position_table);
    for (const auto& layer : layers) {
      heed::nn::KeyValueCache unused;
      x = layer.forward(context, x, {unused, {in.spans}, {}, {}, in.spans});
    }
    return norm.forward(context, x);
  }
};

}  // namespace ladder
