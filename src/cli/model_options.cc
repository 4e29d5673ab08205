#include "cli/model_options.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/names.h"
#include "heed/base/parallel.h"
#include "heed/generate/cached_decoder.h"
#include "heed/io/gguf.h"
#include "heed/text/gguf_tokenizer.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::cli {
namespace {

quantize::WeightPrecision precision_of(const std::string& name) {
  return {dtype_named(name)};  // "stored": no type
}

std::unique_ptr<model::Transformer> load(const ModelOptions& options,
                                         quantize::WeightPrecision precision) {
  checkpoint::LoadOptions how{.precision = precision, .random_seed = options.random_weights};
  if (options.compute != Compute::f32) how.pack = options.compute.value_or(Compute::int8);
  return checkpoint::load_model(options.path, how);
}

bool has_matrices_of_16_bits(const model::Transformer& model) {
  return std::ranges::any_of(model.parameters().all(), [](const Parameter& parameter) {
    return is_plain(parameter.value.dtype()) && parameter.value.dtype() != DType::f32;
  });
}

/// The type to which stored weights should be converted, if any.
std::optional<quantize::WeightPrecision> preferred_precision(const ModelOptions& options,
                                                             const model::Transformer& model) {
  if (options.weights != "stored" || generate::computes_in_int8(model)) return std::nullopt;
  if (options.compute == Compute::int8) return {{DType::q8_0}};
  if (options.widen && has_matrices_of_16_bits(model)) return {{DType::f32}};
  return std::nullopt;
}

text::Tokenizer checked(text::Tokenizer tokenizer, const std::string& path,
                        const model::Transformer& model) {
  require(tokenizer.vocab_size() <= model.config().vocab_size,
          "{}: the tokenizer has {} pieces, the model's vocabulary {}", path,
          tokenizer.vocab_size(), model.config().vocab_size);
  return tokenizer;
}

}  // namespace

void add_model_options(Command& command, ModelOptions& options, bool bf16) {
  std::vector<std::string> arithmetic{"auto", "f32", "int8"};
  std::vector<std::string> weights = quantize::precision_names();
  weights.insert(weights.begin(), "stored");
  if (bf16) arithmetic.emplace_back("bf16");
  const auto set_compute = [&options](const std::string& name) {
    constexpr std::array kAll{Compute::f32, Compute::bf16, Compute::int8};
    options.compute = name == "auto" ? std::nullopt : std::optional(named(name, kAll));
  };
  command.add_option("--model", options.path, "Model directory or GGUF file").required();
  command
      .add_option(
          "--weights", options.weights,
          "Type of the weights: as stored in the file, or converted to this type while loading")
      .one_of(weights)
      .show_default();
  command
      .add_callback("--compute", set_compute,
                    "Arithmetic of matrix products. int8 quantises activations to 8 bits; weights "
                    "that are not "
                    "quantised become q8_0. auto: int8 if the weights are quantised, else f32")
      .one_of(arithmetic)
      .show_default("auto");
  command.add_option(
      "--random-weights", options.random_weights,
      "Initialise the weights randomly from this seed instead of reading them; needs only "
      "config.json");
}

std::unique_ptr<model::Transformer> load_model(const ModelOptions& options) {
  auto model = load(options, precision_of(options.weights));
  if (const auto precision = preferred_precision(options, *model))
    model = load(options, *precision);
  // Packing pays for an encoder, which reads whole texts, but not for decoding single tokens.
  if (options.compute != Compute::bf16 && model->has_encoder()) model->pack(Compute::f32);
  require(options.compute != Compute::int8 || generate::computes_in_int8(*model),
          "{}: --compute int8 needs quantised weights, and there are none: add --weights q8_0",
          options.path);
  return model;
}

DType activation_dtype(const ModelOptions& options) {
  return heed::activation_dtype(options.compute.value_or(Compute::f32));
}

text::Tokenizer read_tokenizer(const std::filesystem::path& path) {
  require(!text::TranslationTokenizer::exists(path),
          "{} has separate vocabularies for source and target, which this command cannot use: see "
          "heed translate",
          path.string());
  if (path.extension() != ".gguf" && !path_is_file(path)) return text::Tokenizer::load(path);
  return text::read_gguf_tokenizer(io::GgufFile::open(path)->metadata(), path.string());
}

text::Tokenizer load_tokenizer(const ModelOptions& options, const model::Transformer& model) {
  return checked(read_tokenizer(options.path), options.path, model);
}

text::PairTokenizer load_pair_tokenizer(const ModelOptions& options,
                                        const model::Transformer& model) {
  if (!text::TranslationTokenizer::exists(options.path))
    return text::PairTokenizer(load_tokenizer(options, model));
  auto two = text::TranslationTokenizer::load(options.path);
  require(two.vocab_size() == model.config().vocab_size,
          "{}: the tokenizer has {} pieces, the model's vocabulary {}", options.path,
          two.vocab_size(), model.config().vocab_size);
  return text::PairTokenizer(std::move(two));
}

PendingTokenizer::PendingTokenizer(const ModelOptions& options)
    : path_(options.path),
      tokenizer_(std::async(
          thread_count() > 1 ? std::launch::async | std::launch::deferred : std::launch::deferred,
          [path = path_, &executor = current_executor()] {
            const ExecutorScope scope(executor);
            return read_tokenizer(path);
          })) {}

text::Tokenizer PendingTokenizer::get(const model::Transformer& model) {
  return checked(tokenizer_.get(), path_, model);
}

}  // namespace heed::cli
