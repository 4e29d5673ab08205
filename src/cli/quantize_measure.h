#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/quantize/calibration.h"

namespace heed::cli {

/// Which columns of a model's weights count while it reads a text: pieces of it where the model is
/// a decoder, its lines where it is an encoder, its lines with their translations in `reference`
/// where it is both. Of long texts some pieces, evenly spread. Throws Error when the text has no
/// tokens.
quantize::Calibration calibrate(const std::string& model, const std::string& text,
                                const std::string& reference);

/// Held-out texts, each or none: one for what the model does, or sentences and their translations.
struct MeasuredTexts {
  std::string text, source, reference;
};

/// A row of the table: the model, its quantised copy, in percent or (BLEU) in points.
struct Cost {
  std::string what, key;
  double before = 0, after = 0;
  bool points = false;
};

struct Costs {
  std::string measured_on;  // "held-out.txt, 21436 tokens"
  std::vector<Cost> rows;
};

/// Measures a copy beside its model.
using CostMeter = std::function<Costs(const std::string& copy)>;

/// Measures what a copy will be compared with, so that texts that do not fit the model are found
/// before there is one: perplexity of `text` where the model continues texts, embeddings of its
/// lines, whose cosine to the copy's is the cost, where it embeds them; BLEU of translations of
/// `source`. The model's products are of f32, the copy's once as it runs by default (integers,
/// where weights are in blocks) and once of f32: what is left then are the weights. Throws Error
/// when the texts are for another kind of model, and when there are too few tokens.
CostMeter cost_meter(const std::string& model, const MeasuredTexts& texts);

}  // namespace heed::cli
