#pragma once

#include <filesystem>
#include <functional>

#include "heed/model/transformer.h"
#include "heed/quantize.h"
#include "heed/quantize/calibration.h"

namespace heed::engine {

/// Throws Error unless the files suit the kind of model: an encoder-decoder is `done` ("measured")
/// on sentences and their translations, other models on one text.
void check_texts(const TextFiles& files, const model::Transformer& model, const char* done);

/// Collects calibration statistics of a model's activations. A decoder-only model reads pieces of
/// the text, an encoder-only model its lines, an encoder-decoder its lines and their translations.
/// Long files are sampled evenly. Throws Error when the text has no tokens.
quantize::Calibration calibrate(const std::filesystem::path& path, const TextFiles& files);

/// Measures the quality of a quantised copy.
using QualityEvaluator = std::function<QualityChange(const std::filesystem::path& copy)>;

/// Measures the quality of a model, in f32 arithmetic, and returns the function that measures its
/// copies: perplexity of the text for a decoder-only model, cosine similarity of the embeddings of
/// its lines for an encoder-only model, BLEU of the translations of its lines for an
/// encoder-decoder. A copy is measured with its default arithmetic (int8) and, to separate the
/// effect of the weights, with f32. Measuring the model first finds unsuitable texts before the
/// copy is made: throws Error when the files are for another kind of model or have too few tokens.
QualityEvaluator quality_evaluator(const std::filesystem::path& path, const TextFiles& files);

}  // namespace heed::engine
