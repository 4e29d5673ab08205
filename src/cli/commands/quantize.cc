#include "heed/quantize.h"

#include <fmt/ranges.h>

#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/find_model.h"
#include "cli/lines/output.h"
#include "cli/options/command.h"
#include "cli/terminal/warnings.h"
#include "heed/base/error.h"
#include "heed/base/names.h"
#include "heed/load_options.h"

namespace heed::cli {
namespace {

struct QuantizeArguments {
  CommonOptions common;
  std::string model, weights, out;
  std::string calibrate, calibrate_reference;
  std::string text, source, reference;  // held out
  bool json = false;
};

/// The values of --weights.
std::vector<std::string> weight_types() {
  std::vector<std::string> names;
  for (const WeightType type : kWeightTypes)
    if (type != WeightType::f32) names.emplace_back(name_of(type));
  return names;
}

/// A quantity of the model and of its quantised copy.
struct Comparison {
  std::string name, key;  // for the table; for JSON
  double before = 0, after = 0;
  bool points = false;  // show the difference instead of the relative change
};

/// "120 q4_0, 91 q8_0".
std::string text_of(const std::map<std::string, int64_t>& matrices) {
  std::vector<std::string> parts;
  for (const auto& [type, count] : matrices) parts.push_back(fmt::format("{} {}", count, type));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<Comparison> comparisons(const QuantizeResult& result) {
  std::vector<Comparison> rows{{"bits per weight", "bits_per_weight", result.bits_per_weight_before,
                                result.bits_per_weight_after}};
  if (!result.quality) return rows;
  const QualityChange& quality = *result.quality;
  const bool points = quality.measure == "BLEU";
  rows.push_back({quality.measure, quality.measure, quality.before, quality.after, points});
  rows.push_back({"  weights alone", quality.measure + "_weights_alone", quality.before,
                  quality.after_weights_only, points});
  return rows;
}

void print_json(const QuantizeResult& result) {
  nlohmann::ordered_json facts;
  if (result.quality) facts["measured_on"] = result.quality->measured_on;
  facts["matrices"] = result.matrices;
  facts["bytes"] = {result.bytes_before, result.bytes_after};
  for (const Comparison& row : comparisons(result)) facts[row.key] = {row.before, row.after};
  std::cout << json_line(facts);
}

void print_row(const Comparison& row, int digits) {
  const double change = row.points ? row.after - row.before : 100 * (row.after / row.before - 1);
  std::cout << fmt::format("{:<17}{:>14.{}f}{:>14.{}f}   {:+.2f}{}\n", row.name, row.before, digits,
                           row.after, digits, change, row.points ? " points" : "%");
}

void print_table(const QuantizeResult& result) {
  std::cout << "matrices " << text_of(result.matrices) << '\n';
  if (result.quality) std::cout << "measured on " << result.quality->measured_on << '\n';
  std::cout << fmt::format("{:<17}{:>14}{:>14}\n", "", "before", "after");
  print_row({"bytes", "bytes", static_cast<double>(result.bytes_before),
             static_cast<double>(result.bytes_after)},
            0);
  for (const Comparison& row : comparisons(result))
    print_row(row, row.key == "bits_per_weight" ? 2 : 4);
}

int run_quantize(const QuantizeArguments& arguments) {
  const Threads threads(arguments.common);
  require(arguments.text.empty() || arguments.source.empty(),
          "--text and --source are for different kinds of models");
  const std::string model = find_model(arguments.model);
  print_config_warnings(model);
  const QuantizeResult result = quantize_model(
      model, arguments.out,
      {.weights = named(arguments.weights, kWeightTypes),
       .calibration = {arguments.calibrate, arguments.calibrate_reference},
       .held_out = arguments.source.empty() ? TextFiles{arguments.text}
                                            : TextFiles{arguments.source, arguments.reference},
       .executor = threads.executor()});
  arguments.json ? print_json(result) : print_table(result);
  return 0;
}

}  // namespace

void add_quantize(Command& program) {
  Command command =
      program.add_subcommand("quantize", "Quantises a model and measures the loss of quality");
  auto options = std::make_shared<QuantizeArguments>();
  command.add_option("model,--model", options->model, kModelHelp).names_model().required();
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
          "--text", options->text,
          "Measure the loss of quality on this held-out text: perplexity for a decoder-only model, "
          "cosine similarity of the embeddings of its lines for an encoder-only model")
      .existing_file();
  Option source =
      command
          .add_option("--source", options->source,
                      "Measure the loss of quality on these sentences: BLEU of their translations "
                      "(encoder-decoder)")
          .existing_file();
  Option reference = command
                         .add_option("--reference", options->reference,
                                     "Reference translations of --source, line by line")
                         .existing_file();
  source.needs(reference);
  reference.needs(source);
  command.add_flag("--json", options->json, "Print one JSON object");
  add_threads_option(command, options->common);
  command.footer(
      "Examples:\n"
      "  heed quantize llama --weights q4_0 --out llama-q4 --calibrate train.txt --text new.txt\n"
      "  heed quantize model --weights q4_0 --out small --source test.en --reference test.es");
  command.set_action([options] { return run_quantize(*options); });
}

}  // namespace heed::cli
