#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/model.h"
#include "heed/model/transformer.h"

namespace heed::cli {

/// The size of the workload and the number of measurements.
struct BenchSizes {
  int64_t prompt_tokens = 0;   // per prompt, source or text
  int64_t context_tokens = 0;  // before the decoded tokens, for a decoder-only model
  int64_t tokens = 0;          // decoded per prompt
  int64_t batch = 0;           // number of prompts; 0: chosen by the kind of model
  int64_t batch_tokens = 0;    // largest number of tokens per batch; 0: all in one batch
  int num_beams = 1;
  int repeat = 0;
  DType dtype = DType::f32;
};

/// The results of repeated measurements.
struct Measurement {
  std::string what;             // "prefill"
  std::string unit;             // of `count`: "tokens"
  int64_t count = 0;            // units processed by each run
  std::vector<double> seconds;  // of each run
  double operations = 0;        // floating-point operations of each run; 0: unknown
  double weight_bytes = 0;      // bytes of weights read by each run; 0: unknown

  double median_seconds() const;
  /// Units per second of the median, the slowest and the fastest run.
  double rate() const;
  double slowest_rate() const;
  double fastest_rate() const;
};

/// Measures prefill and decoding (models with a decoder) or encoding (encoder-only models) with
/// synthetic tokens and prompts of equal length. Throws Error when a sequence exceeds the model's
/// context.
std::vector<Measurement> measure_tokens(const model::Transformer& model, const BenchSizes& sizes);

/// Measures lines of text per second, tokenizer included, as heed translate, embed or generate
/// process them.
Measurement measure_lines(const Model& model, const std::vector<std::string>& lines,
                          const BenchSizes& sizes);

}  // namespace heed::cli
