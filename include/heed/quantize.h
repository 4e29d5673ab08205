#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "heed/executor.h"
#include "heed/export.h"
#include "heed/hub.h"
#include "heed/load_options.h"

namespace heed {

/// A text file, or for an encoder-decoder a file of source sentences and one of their translations,
/// line by line. Empty: none.
struct TextFiles {
  std::filesystem::path text = {};       // or the sources
  std::filesystem::path reference = {};  // only for an encoder-decoder, which needs it
};

/// Options of quantize_model().
struct QuantizeOptions {
  /// The type of the matrices; not f32. Vectors stay f32. With 4 or 5 bits, the most sensitive
  /// matrices get 8 bits (_K: 6 bits): embedding, head, key and value projections, and down
  /// projections of the first and last layers.
  WeightType weights = WeightType::q8_0;
  /// If set, weights of less than 8 bits are rounded so that the outputs on this text change least
  /// (GPTQ, Frantar et al. 2022).
  TextFiles calibration = {};
  /// If set, the loss of quality is measured on this text, which should be held out.
  TextFiles held_out = {};
  /// The threads that compute; without it, Executor::shared().
  std::shared_ptr<Executor> executor = {};
  /// How a model that is named OWNER/NAME is found and downloaded.
  HubOptions hub = {};
};

/// The quality of a model and of its quantised copy.
struct QualityChange {
  /// "perplexity" of a decoder-only model, "cosine", the mean cosine similarity of embeddings, of
  /// an encoder-only model, or "BLEU" of an encoder-decoder with 4 beams.
  std::string measure;
  std::string measured_on;        // "held-out.txt, 21436 tokens"
  double before = 0;              // of the model, computed in f32
  double after = 0;               // of the copy with its default arithmetic, int8
  double after_weights_only = 0;  // of the copy, computed in f32
};

/// Sizes, types and quality of a quantised copy.
struct QuantizeResult {
  std::map<std::string, int64_t> matrices;  // of the copy: their number by type
  /// The size of the files with the weights.
  uint64_t bytes_before = 0, bytes_after = 0;
  /// The mean over all parameters, vectors included.
  double bits_per_weight_before = 0, bits_per_weight_after = 0;
  std::optional<QualityChange> quality = {};  // with QuantizeOptions::held_out
};

/// Writes a quantised copy of the model `source`, a model directory, a GGUF file or OWNER/NAME of
/// the hub, to `target`: a new or an empty directory, or a new GGUF file if the source is one.
/// Throws Error on options out of range, on texts that do not suit the model, when `target` exists,
/// and when a file cannot be read or written; all but the last are found before anything is
/// written.
HEED_EXPORT QuantizeResult quantize_model(const std::filesystem::path& source,
                                          const std::filesystem::path& target,
                                          const QuantizeOptions& options = {});

}  // namespace heed
