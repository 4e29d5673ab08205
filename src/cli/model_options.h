#pragma once

#include <CLI/CLI.hpp>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "heed/checkpoint/model_directory.h"
#include "heed/text/tokenizer.h"

namespace heed::cli {

/// Which model a command runs, and in which precision.
struct ModelOptions {
  std::string path, weights = "stored";
  std::optional<Compute> compute;  // none: int8 where weights are in blocks, else f32
  /// Matrices stored in 16 bits become f32, with which many rows are multiplied faster.
  bool widen = false;
  std::optional<uint64_t> random_weights;
};

/// Adds --model, --weights, --compute and --random-weights. Without `bf16` for commands that
/// compute activations in f32 alone.
void add_model_options(CLI::App& app, ModelOptions& options, bool bf16 = true);

/// The model, its weights laid out for the arithmetic that is wanted. For int8, stored weights that
/// are in no blocks become q8_0. Throws Error when others are wanted.
std::unique_ptr<model::Transformer> load_model(const ModelOptions& options);

/// The type that activations are computed in.
DType activation_dtype(const ModelOptions& options);

/// The tokenizer of the model, checked against its vocabulary. Throws Error when there is none.
text::Tokenizer load_tokenizer(const ModelOptions& options, const model::Transformer& model);

/// The same, read by a thread of its own while the caller loads the model; where one thread is
/// wanted, by the caller when it asks for it.
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
