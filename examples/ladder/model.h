#pragma once

// The common part of the trained models: each computes one vector from the words so far; a linear
// map and a softmax turn it into probabilities of the next word.

#include <vector>

#include "heed/nn/attention.h"
#include "heed/nn/parameters.h"
#include "heed/ops/embedding.h"

namespace ladder {

using heed::Context;
using heed::Parameter;
using heed::Tensor;
using heed::WeightRole;
using heed::nn::Initializer;

inline constexpr int64_t kWidth = 64;   // D
inline constexpr int32_t kWindow = 64;  // maximum number of words of context

/// N words of several packed windows.
struct Windows {
  std::vector<int32_t> words, positions, targets;  // [N]
  heed::nn::Spans spans;
};

struct Model {
  explicit Model(int64_t v)
      : vocabulary(v),
        words(parameters.create("words", {v, kWidth}, Initializer::normal(0.1f),
                                WeightRole::token_embedding)),
        out(parameters.create("out", {v, kWidth}, Initializer::xavier(), WeightRole::head)),
        out_bias(parameters.create("out_bias", {v}, Initializer::zeros(), WeightRole::head)) {}
  virtual ~Model() = default;

  /// The hidden states [N, D]; row n depends on the words of its window up to n.
  virtual Tensor states(Context& context, const Windows& in) = 0;

  /// The word embeddings [N, D], times sqrt(D) = 8, plus the position embeddings when given.
  Tensor embed(Context& context, const Windows& in, Parameter* position_table = nullptr) {
    return heed::ops::embedding(context, {in.words, in.positions}, words, 8.0f,
                                {{}, position_table});
  }

  int64_t vocabulary;
  heed::nn::Parameters parameters{1};
  Parameter &words, &out, &out_bias;
};

}  // namespace ladder
