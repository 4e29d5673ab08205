#pragma once

// What the rungs that learn have in common: each makes one vector of the words so far, and a linear
// map and a softmax turn it into probabilities of the next.

#include <vector>

#include "heed/nn/attention.h"
#include "heed/nn/parameters.h"
#include "heed/ops/embedding.h"

namespace ladder {

using heed::Context;
using heed::Parameter;
using heed::Tensor;
using heed::nn::Initializer;

inline constexpr int64_t kWidth = 64;   // D
inline constexpr int32_t kWindow = 64;  // longest sequence of words that is looked at

/// Words [N] of several windows laid end to end.
struct Windows {
  std::vector<int32_t> words, places, targets;
  heed::nn::Spans spans;
};

struct Rung {
  explicit Rung(int64_t v)
      : vocabulary(v),
        words(parameters.create("words", {v, kWidth}, Initializer::normal(0.1f))),
        out(parameters.create("out", {v, kWidth}, Initializer::xavier())),
        out_bias(parameters.create("out_bias", {v}, Initializer::zeros())) {}
  virtual ~Rung() = default;

  /// [N, D]: row n knows the words of its window up to n.
  virtual Tensor state(Context& context, const Windows& in) = 0;

  /// The words' vectors [N, D], with those of their places when there are any; 8 is sqrt(D).
  Tensor embed(Context& context, const Windows& in, Parameter* places = nullptr) {
    return heed::ops::embedding(context, {in.words, in.places}, words, 8.0f, {{}, places});
  }

  int64_t vocabulary;
  heed::nn::Parameters parameters{1};
  Parameter &words, &out, &out_bias;
};

}  // namespace ladder
