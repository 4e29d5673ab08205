#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heed/compute.h"
#include "heed/export.h"

namespace heed {

class Model;

/// The work whose time is measured, and how often.
struct BenchOptions {
  int64_t prompt_tokens = 0;    // per prompt, source or text; 0: chosen by the kind of model
  int64_t context_tokens = 16;  // before the decoded tokens, for a decoder-only model
  int64_t tokens = 64;          // decoded per prompt; 0: none
  int64_t batch = 0;            // number of prompts; 0: chosen by the kind of model
  int64_t batch_tokens = 0;     // largest number of tokens per batch; 0: all in one batch
  int num_beams = 1;            // 1: greedy search
  int repeat = 5;               // number of measurements
};

/// The results of repeated measurements.
struct HEED_EXPORT Measurement {
  std::string what;             // "prefill"
  std::string unit;             // of `count`: "tokens"
  int64_t count = 0;            // units processed by each run
  std::vector<double> seconds;  // of each run
  double operations = 0;        // floating-point operations of each run; 0: unknown
  double weight_bytes = 0;      // bytes of weights read by each run; 0: unknown

  /// The median of the runs, of which there must be one.
  double median_seconds() const;
  /// Units per second of the median run.
  double rate() const;
  /// Units per second of the slowest run.
  double slowest_rate() const;
  /// Units per second of the fastest run.
  double fastest_rate() const;
};

/// The weights and the arithmetic of a loaded model.
struct LoadedWeights {
  int64_t parameters = 0;                // their number
  std::map<std::string, int64_t> bytes;  // by stored type: "f32", "q4_0"
  Compute compute = Compute::f32;        // the arithmetic of most of the work
};
/// The number of parameters, their types, and what computes with them.
HEED_EXPORT LoadedWeights loaded_weights(const Model& model);

/// The options, with what is chosen by the kind of model.
HEED_EXPORT BenchOptions with_defaults(const Model& model, BenchOptions options);

/// Measures prefill and decoding (models with a decoder) or encoding (encoder-only models) with
/// synthetic tokens and prompts of equal length. Throws Error when a sequence exceeds the model's
/// context and when a number is out of range.
HEED_EXPORT std::vector<Measurement> measure_tokens(const Model& model,
                                                    const BenchOptions& options);

/// Measures lines of text per second, tokenizer included, as translate_batch(), embed_batch() or
/// generate_batch() process them.
HEED_EXPORT Measurement measure_lines(const Model& model, const std::vector<std::string>& lines,
                                      const BenchOptions& options);

}  // namespace heed
