#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>

#include "cli/options.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/text/pair_tokenizer.h"
#include "heed/text/tokenizer.h"

namespace heed::cli {

/// The model that a command runs, and the precision.
struct ModelOptions {
  std::string path, weights = "stored";
  std::optional<Compute> compute;  // none: int8 if weights are in blocks, else f32
  /// Convert matrices stored in 16 bits to f32, which is faster for products with many rows.
  bool widen = false;
  std::optional<uint64_t> random_weights;
};

/// Adds --model, --weights, --compute and --random-weights. `bf16` is false for commands that
/// compute activations in f32 only.
void add_model_options(Command& command, ModelOptions& options, bool bf16 = true);

/// Loads the model and packs its weights for the arithmetic of the options. For int8, stored
/// weights that are not in blocks become q8_0. Throws Error when --weights rules that out.
std::unique_ptr<model::Transformer> load_model(const ModelOptions& options);

/// The type that activations are computed in.
DType activation_dtype(const ModelOptions& options);

/// The tokenizer of the model, checked against its vocabulary. Throws Error when there is none.
text::Tokenizer load_tokenizer(const ModelOptions& options, const model::Transformer& model);

/// The same of an encoder-decoder, which may have a vocabulary for each side.
text::PairTokenizer load_pair_tokenizer(const ModelOptions& options,
                                        const model::Transformer& model);

/// load_tokenizer() by another thread while the caller loads the model; with a single thread, by
/// the caller when it asks for the tokenizer.
class PendingTokenizer {
 public:
  explicit PendingTokenizer(const ModelOptions& options);
  /// To be called once.
  text::Tokenizer get(const model::Transformer& model);

 private:
  std::string path_;
  std::future<text::Tokenizer> tokenizer_;
};

}  // namespace heed::cli
