#include <fmt/ranges.h>

#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
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
  MeasuredTexts measured;
  bool json = false;
};

/// The types of the matrices that --weights offers.
std::vector<std::string> weight_types() {
  std::vector<std::string> names = quantize::precision_names();
  std::erase(names, name_of(DType::f32));
  return names;
}

DType wanted_dtype(const QuantizeOptions& options) { return *dtype_named(options.weights); }

/// Nothing is overwritten: the files of another model would mix with the new ones.
void check_out(const fs::path& out, bool directory) {
  std::error_code error;
  const fs::file_status status = fs::status(out, error);
  require(status.type() != fs::file_type::none, "{}: {}", out.string(), error.message());
  const bool empty = directory && fs::is_directory(status) && fs::is_empty(out, error);
  require(!fs::exists(status) || empty, "{} exists already: name another, or remove it first",
          out.string());
  if (!directory || out.empty()) return require_output_file("--out", out);
  require_writable(empty ? out / "config.json" : out);
}

/// Refuses what can be refused before measuring, which takes long.
void check(const QuantizeOptions& options) {
  check_out(options.out, path_is_directory(options.model));
  if (options.calibrate.empty()) return;
  require(traits_of(wanted_dtype(options)).bits == 4,
          "--calibrate guides the search for scales of 4 bits, {} has none", options.weights);
  const auto model = checkpoint::build_model(options.model);
  const bool translates = model->has_encoder() && model->has_decoder();
  require(translates || options.calibrate_reference.empty(),
          "--calibrate-reference is for models with an encoder and a decoder, this has one of "
          "them");
  require(!translates || !options.calibrate_reference.empty(),
          "--calibrate of a model with an encoder and a decoder wants --calibrate-reference, too");
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

/// Bytes of the weights: of the files that hold them.
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

void print_json(const Cost& bytes, const Cost& bits, const StoredTypes& stored,
                const Costs& costs) {
  nlohmann::ordered_json facts;
  if (!costs.measured_on.empty()) facts["measured_on"] = costs.measured_on;
  facts["matrices"] = stored.matrices;
  facts[bytes.key] = {static_cast<int64_t>(bytes.before), static_cast<int64_t>(bytes.after)};
  facts[bits.key] = {bits.before, bits.after};
  for (const Cost& cost : costs.rows) facts[cost.key] = {cost.before, cost.after};
  std::cout << json_line(facts);
}

void print_row(const Cost& cost, int digits) {
  const double change =
      cost.points ? cost.after - cost.before : 100 * (cost.after / cost.before - 1);
  std::cout << fmt::format("{:<17}{:>14.{}f}{:>14.{}f}   {:+.2f}{}\n", cost.what, cost.before,
                           digits, cost.after, digits, change, cost.points ? " points" : "%");
}

int run_quantize(const QuantizeOptions& options) {
  apply(options.common);
  check(options);
  const CostMeter costs_of = cost_meter(options.model, options.measured);
  quantize(options);
  const Cost bytes{"bytes", "bytes", static_cast<double>(weight_bytes(options.model)),
                   static_cast<double>(weight_bytes(options.out))};
  const StoredTypes stored = stored_types(options.out);
  const Cost bits{"bits per weight", "bits_per_weight", stored_types(options.model).bits_per_weight,
                  stored.bits_per_weight};
  const Costs costs = costs_of(options.out);
  if (options.json) {
    print_json(bytes, bits, stored, costs);
    return 0;
  }
  std::cout << "matrices " << text_of(stored.matrices) << '\n';
  if (!costs.measured_on.empty()) std::cout << "measured on " << costs.measured_on << '\n';
  std::cout << fmt::format("{:<17}{:>14}{:>14}\n", "", "before", "after");
  print_row(bytes, 0);
  print_row(bits, 2);
  for (const Cost& cost : costs.rows) print_row(cost, 4);
  return 0;
}

}  // namespace

void add_quantize(Command& program) {
  Command command = program.add_subcommand(
      "quantize", "Writes a model with smaller weights and measures the loss of quality");
  auto options = std::make_shared<QuantizeOptions>();
  command.add_option("--model", options->model, "Model directory or GGUF file").required();
  command
      .add_option(
          "--weights", options->weights,
          "Type of the matrices: blocks of 32 weights of 8 or 4 bits, or bf16. With 4 bits, the "
          "matrices that lose most keep 8: embedding, head, key and value projections, and "
          "down projections of the first and last layers")
      .one_of(weight_types())
      .required();
  command
      .add_option("--out", options->out, "Model directory to write; for a GGUF file, the GGUF file")
      .required();
  Option calibrate =
      command
          .add_option(
              "--calibrate", options->calibrate,
              "Calibrate 4-bit weights on this text, which loses less quality; one sentence "
              "per line for a model with an encoder")
          .existing_file();
  command
      .add_option("--calibrate-reference", options->calibrate_reference,
                  "Translations of the calibration text, line by line, for an encoder-decoder")
      .existing_file()
      .needs(calibrate);
  command
      .add_option("--text", options->measured.text,
                  "Measure the loss on this held-out text: perplexity for a decoder, the cosine "
                  "between embeddings of its lines for an encoder")
      .existing_file();
  Option source = command
                      .add_option("--source", options->measured.source,
                                  "Measure the loss on these sentences: BLEU of their translations")
                      .existing_file();
  Option reference = command
                         .add_option("--reference", options->measured.reference,
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
