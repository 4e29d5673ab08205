#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/quantize/calibration.h"

namespace heed::cli {

/// Collects calibration statistics of a model's activations. A decoder-only model reads pieces of
/// the text file, an encoder-only model its lines, an encoder-decoder its lines and their
/// translations in `reference`. Long files are sampled evenly. Throws Error when the text has no
/// tokens.
quantize::Calibration calibrate(const std::string& path, const std::string& text,
                                const std::string& reference);

/// Files of held-out text: `text` for a decoder-only or encoder-only model, or `source` and
/// `reference` for an encoder-decoder. All empty: nothing is measured.
struct HeldOutTexts {
  std::string text, source, reference;
};

/// A quantity of the model and of its quantised copy.
struct Comparison {
  std::string name, key;  // for the table; for JSON
  double before = 0, after = 0;
  bool points = false;  // show the difference instead of the relative change
};

struct Comparisons {
  std::string measured_on;  // "held-out.txt, 21436 tokens"
  std::vector<Comparison> rows;
};

/// Measures the quality of a quantised copy.
using CopyMeter = std::function<Comparisons(const std::string& copy)>;

/// Measures the quality of a model, in f32 arithmetic, and returns the function that measures its
/// copies: perplexity of `text` for a decoder-only model, cosine similarity of the embeddings of
/// its lines for an encoder-only model, BLEU of the translations of `source` for an
/// encoder-decoder. A copy is measured with its default arithmetic (int8) and, to separate the
/// effect of the weights, with f32. Measuring the model first finds unsuitable texts before the
/// copy is made: throws Error when the texts are for another kind of model or have too few tokens.
CopyMeter copy_meter(const std::string& path, const HeldOutTexts& texts);

}  // namespace heed::cli
