#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/model_options.h"
#include "heed/model/transformer.h"

namespace heed::cli {

/// How much is done at once, and how often that is measured.
struct BenchSizes {
  int64_t prompt_tokens = 0;   // of every prompt, source or text
  int64_t context_tokens = 0;  // before a decoder alone writes
  int64_t tokens = 0;          // written behind every prompt
  int64_t batch = 0;           // prompts; 0: what suits the model
  int64_t batch_tokens = 0;    // that are computed together; 0: all of them
  int num_beams = 1;
  int repeat = 0;
  DType dtype = DType::f32;
};

/// What was measured, each time.
struct Measurement {
  std::string what;             // "prefill"
  std::string unit;             // what the rates count
  int64_t count = 0;            // of them each time
  std::vector<double> seconds;  // of each time
  double operations = 0;        // arithmetic of each time; 0: not known
  double weight_bytes = 0;      // that were read each time; 0: not known

  double median_seconds() const;
  /// Counts per second of the median, the slowest and the fastest.
  double rate() const;
  double least() const;
  double most() const;
};

/// Reads prompts and writes behind them (a decoder, with an encoder or without), or reads texts (an
/// encoder alone), all of made-up tokens and of the same length. Throws Error when that is more
/// than the model reads.
std::vector<Measurement> measure_tokens(const model::Transformer& model, const BenchSizes& sizes);

/// The model's main work for lines of text, as heed translate, embed and generate do it, tokenizer
/// included: how many lines a second.
Measurement measure_lines(const model::Transformer& model, const ModelOptions& from,
                          const std::vector<std::string>& lines, const BenchSizes& sizes);

}  // namespace heed::cli
