#include <fmt/ranges.h>

#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/find_model.h"
#include "cli/json_line.h"
#include "cli/output_file.h"
#include "cli/quantize_measure.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/checkpoint/quantized_directory.h"
#include "heed/checkpoint/quantized_gguf.h"

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

struct QuantizeOptions {
  CommonOptions common;
  std::string model, weights, out;
  std::string calibrate, calibrate_reference;
  HeldOutTexts held_out;
  bool json = false;
};

/// The values of --weights.
std::vector<std::string> weight_types() {
  std::vector<std::string> names = quantize::precision_names();
  std::erase(names, name_of(DType::f32));
  return names;
}

DType wanted_dtype(const QuantizeOptions& options) { return *dtype_named(options.weights); }

/// Refuses to overwrite: files of another model must not mix with the new ones.
void check_out(const fs::path& out, bool directory) {
  std::error_code error;
  const fs::file_status status = fs::status(out, error);
  require(status.type() != fs::file_type::none, "{}: {}", out.string(), error.message());
  const bool empty = directory && fs::is_directory(status) && fs::is_empty(out, error);
  require(!fs::exists(status) || empty, "{} already exists: choose another name or remove it",
          out.string());
  if (!directory || out.empty()) return require_output_file("--out", out);
  require_writable(empty ? out / "config.json" : out);
}

/// Checks the options before measuring, which takes long.
void check(const QuantizeOptions& options) {
  check_out(options.out, path_is_directory(options.model));
  if (options.calibrate.empty()) return;
  const int bits = traits_of(wanted_dtype(options)).bits;
  require(bits > 0 && bits < 8, "--calibrate is for blocks of less than 8 bits, --weights is {}",
          options.weights);
  const auto model = checkpoint::build_model(options.model);
  const bool encoder_decoder = model->has_encoder() && model->has_decoder();
  require(encoder_decoder || options.calibrate_reference.empty(),
          "--calibrate-reference is for encoder-decoders, this model is not one");
  require(!encoder_decoder || !options.calibrate_reference.empty(),
          "an encoder-decoder needs --calibrate-reference with --calibrate");
}

void quantize(const QuantizeOptions& options) {
  quantize::Quantization how{.dtype = wanted_dtype(options)};
  if (!options.calibrate.empty())
    how.calibration = calibrate(options.model, options.calibrate, options.calibrate_reference);
  if (!path_is_directory(options.model)) {
    checkpoint::write_quantized_gguf(options.out, options.model, how);
    return;
  }
  const auto model = checkpoint::load_model(options.model, {.precision = {std::nullopt}});
  quantize::quantize(*model, how);
  checkpoint::save_quantized(options.out, *model, options.model);
}

/// The size of the files with the weights in bytes.
uintmax_t weight_bytes(const fs::path& path) {
  if (!path_is_directory(path)) return fs::file_size(path);
  uintmax_t bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".safetensors") bytes += entry.file_size();
  return bytes;
}

/// The types in which a model's weights are stored.
struct StoredTypes {
  std::map<std::string, int64_t> matrices;  // number of matrices by type
  double bits_per_weight = 0;               // mean over all parameters, vectors included
};

StoredTypes stored_types(const fs::path& path) {
  const auto model = checkpoint::load_model(path, {.precision = {std::nullopt}});
  StoredTypes stored;
  int64_t bytes = 0;
  for (const Parameter& parameter : model->parameters().all()) {
    bytes += parameter.value.bytes();
    if (parameter.shape.rank() > 1)
      ++stored.matrices[std::string(name_of(parameter.value.dtype()))];
  }
  stored.bits_per_weight =
      8.0 * static_cast<double>(bytes) / static_cast<double>(model->parameters().count());
  return stored;
}

/// "120 q4_0, 91 q8_0".
std::string text_of(const std::map<std::string, int64_t>& matrices) {
  std::vector<std::string> parts;
  for (const auto& [type, count] : matrices) parts.push_back(fmt::format("{} {}", count, type));
  return fmt::format("{}", fmt::join(parts, ", "));
}

void print_json(const Comparison& bytes, const Comparison& bits, const StoredTypes& stored,
                const Comparisons& quality) {
  nlohmann::ordered_json facts;
  if (!quality.measured_on.empty()) facts["measured_on"] = quality.measured_on;
  facts["matrices"] = stored.matrices;
  facts[bytes.key] = {static_cast<int64_t>(bytes.before), static_cast<int64_t>(bytes.after)};
  facts[bits.key] = {bits.before, bits.after};
  for (const Comparison& row : quality.rows) facts[row.key] = {row.before, row.after};
  std::cout << json_line(facts);
}

void print_row(const Comparison& row, int digits) {
  const double change = row.points ? row.after - row.before : 100 * (row.after / row.before - 1);
  std::cout << fmt::format("{:<17}{:>14.{}f}{:>14.{}f}   {:+.2f}{}\n", row.name, row.before, digits,
                           row.after, digits, change, row.points ? " points" : "%");
}

int run_quantize(QuantizeOptions options) {
  const Threads threads(options.common);
  options.model = find_model(options.model);
  check(options);
  const CopyMeter measure_copy = copy_meter(options.model, options.held_out);
  quantize(options);
  const Comparison bytes{"bytes", "bytes", static_cast<double>(weight_bytes(options.model)),
                         static_cast<double>(weight_bytes(options.out))};
  const StoredTypes stored = stored_types(options.out);
  const Comparison bits{"bits per weight", "bits_per_weight",
                        stored_types(options.model).bits_per_weight, stored.bits_per_weight};
  const Comparisons quality = measure_copy(options.out);
  if (options.json) {
    print_json(bytes, bits, stored, quality);
    return 0;
  }
  std::cout << "matrices " << text_of(stored.matrices) << '\n';
  if (!quality.measured_on.empty()) std::cout << "measured on " << quality.measured_on << '\n';
  std::cout << fmt::format("{:<17}{:>14}{:>14}\n", "", "before", "after");
  print_row(bytes, 0);
  print_row(bits, 2);
  for (const Comparison& row : quality.rows) print_row(row, 4);
  return 0;
}

}  // namespace

void add_quantize(Command& program) {
  Command command =
      program.add_subcommand("quantize", "Quantises a model and measures the loss of quality");
  auto options = std::make_shared<QuantizeOptions>();
  command.add_option("--model", options->model, kModelHelp).required();
  command
      .add_option(
          "--weights", options->weights,
          "Type of the matrices: blocks of 32 weights, or of 256 (_K: q4_K is known as Q4_K_M), or "
          "bf16. With 4 or 5 bits, the most sensitive matrices get 8 bits (_K: 6 bits): embedding, "
          "head, key and value projections, and down projections of the first and last layers")
      .one_of(weight_types())
      .required();
  command
      .add_option("--out", options->out, "Model directory to write, or GGUF file if --model is one")
      .required();
  Option calibrate = command
                         .add_option("--calibrate", options->calibrate,
                                     "Calibrate weights of less than 8 bits on this text, which "
                                     "preserves more quality; one sentence "
                                     "per line for models with an encoder")
                         .existing_file();
  command
      .add_option("--calibrate-reference", options->calibrate_reference,
                  "Translations of the --calibrate text, line by line, for an encoder-decoder")
      .existing_file()
      .needs(calibrate);
  command
      .add_option(
          "--text", options->held_out.text,
          "Measure the loss of quality on this held-out text: perplexity for a decoder-only model, "
          "cosine similarity of the embeddings of its lines for an encoder-only model")
      .existing_file();
  Option source =
      command
          .add_option("--source", options->held_out.source,
                      "Measure the loss of quality on these sentences: BLEU of their translations "
                      "(encoder-decoder)")
          .existing_file();
  Option reference = command
                         .add_option("--reference", options->held_out.reference,
                                     "Reference translations of --source, line by line")
                         .existing_file();
  source.needs(reference);
  reference.needs(source);
  command.add_flag("--json", options->json, "Print one JSON object");
  add_common_options(command, options->common);
  command.footer(
      "Examples:\n"
      "  heed quantize --model llama --weights q4_0 --out llama-q4 --calibrate train.txt --text "
      "held-out.txt\n"
      "  heed quantize --model model --weights q4_0 --out small --source test.en --reference "
      "test.es");
  command.set_action([options] { return run_quantize(*options); });
}

}  // namespace heed::cli
