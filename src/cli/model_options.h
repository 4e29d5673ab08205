#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "cli/options.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/text/pair_tokenizer.h"
#include "heed/text/tokenizer.h"

namespace heed::cli {

/// The model that a command runs and the precision of weights and arithmetic.
struct ModelOptions {
  std::string path, weights = "stored";
  std::optional<Compute> compute;  // none: int8 if weights are quantised, else f32
  /// Convert matrices stored in 16 bits to f32, which is faster for products with many rows.
  bool widen = false;
  std::optional<uint64_t> random_weights;
};

/// Adds --model, --weights, --compute and --random-weights. `bf16` is false for commands that
/// compute activations in f32 only.
void add_model_options(Command& command, ModelOptions& options, bool bf16 = true);

/// Loads the model and packs its weights for the arithmetic of the options. For --compute int8,
/// stored weights that are not quantised become q8_0. Throws Error when --weights prevents it.
std::unique_ptr<model::Transformer> load_model(const ModelOptions& options);

/// The type of the activations.
DType activation_dtype(const ModelOptions& options);

/// The tokenizer of a model directory or GGUF file. Throws Error when there is none, and for a
/// translation model with a vocabulary for each side.
text::Tokenizer read_tokenizer(const std::filesystem::path& path);

/// read_tokenizer() of the model. Throws Error when its vocabulary is larger than the model's.
text::Tokenizer load_tokenizer(const ModelOptions& options, const model::Transformer& model);

/// The tokenizer of an encoder-decoder, which may have a vocabulary for each side.
text::PairTokenizer load_pair_tokenizer(const ModelOptions& options,
                                        const model::Transformer& model);

/// load_tokenizer() in another thread while the caller loads the model. With a single thread,
/// get() loads it.
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
