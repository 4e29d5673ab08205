#include <sys/resource.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/lines/output.h"
#include "cli/options/command.h"
#include "cli/options/model_options.h"
#include "heed/base/declared_option.h"
#include "heed/base/parallel.h"
#include "heed/base/text_lines.h"
#include "heed/bench.h"
#include "heed/machine_limits.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

// Seconds spent on each limit of the machine: beside a model, and with --limits.
constexpr double kLimitSeconds = 0.3, kLimitsOnlySeconds = 1.0;
// Bytes read to measure bandwidth: of the caches, and of the memory.
constexpr int64_t kCacheArea = int64_t{16} << 20, kMemoryArea = int64_t{1} << 30;

struct BenchArguments {
  CommonOptions common;
  ModelOptions model;
  BenchOptions bench;
  std::string input;
  bool limits = false, json = false;
};

/// The size of the area for measuring how fast `bytes` are read, limited by the available memory.
int64_t area_of(double bytes) {
  const int64_t max_area = std::max(std::min(kMemoryArea, available_memory() / 4), kCacheArea);
  return std::clamp(static_cast<int64_t>(bytes), kCacheArea, max_area);
}

Json limits_of_machine() {
  Json facts = {{"threads", thread_count()}};
  for (const auto& [name, bytes] : {std::pair{"memory", kMemoryArea}, {"caches", kCacheArea}}) {
    const int64_t area = area_of(static_cast<double>(bytes));
    facts["reading"][name] = {{"bytes", area},
                              {"bytes_per_second", measure_reading(area, kLimitsOnlySeconds)}};
  }
  for (const Compute kind : {Compute::f32, Compute::bf16, Compute::int8}) {
    const ArithmeticRate rate = measure_arithmetic(kind, kLimitsOnlySeconds);
    facts["arithmetic"][name_of(kind)] = {{"operations_per_second", rate.operations_per_second},
                                          {"instructions", rate.instructions}};
  }
  return facts;
}

int print_limits(const BenchArguments& options) {
  const Json facts = limits_of_machine();
  if (options.json) {
    std::cout << json_line(facts);
    return 0;
  }
  std::cout << fmt::format("{:<24} {}\n", "threads", facts["threads"].get<int>());
  for (const auto& [name, reading] : facts["reading"].items())
    std::cout << fmt::format("{:<24} {:.1f} GB/s\n",
                             fmt::format("reading {} MiB", reading["bytes"].get<int64_t>() >> 20),
                             reading["bytes_per_second"].get<double>() / 1e9);
  for (const auto& [name, rate] : facts["arithmetic"].items())
    std::cout << fmt::format(
        "{:<24} {:.0f} GFLOP/s\n",
        fmt::format("{} with {}", name, rate["instructions"].get<std::string>()),
        rate["operations_per_second"].get<double>() / 1e9);
  return 0;
}

int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

Json described(const Measurement& measured) {
  Json facts = {{"count", measured.count},
                {"unit", measured.unit},
                {"per_second", measured.rate()},
                {"slowest", measured.slowest_rate()},
                {"fastest", measured.fastest_rate()},
                {"seconds", measured.seconds}};
  if (measured.operations > 0)
    facts["operations_per_second"] = measured.operations / measured.median_seconds();
  return facts;
}

/// Adds how fast a decoding step reads the weights.
void add_reading(Json& facts, const Measurement& measured, int64_t steps) {
  facts["weight_bytes_per_step"] = measured.weight_bytes / static_cast<double>(steps);
  facts["bytes_per_second"] = measured.weight_bytes / measured.median_seconds();
}

/// Adds to each measurement what it is of the processors' arithmetic, and of the bandwidth for as
/// many bytes.
void add_shares(Json& measured, Compute compute) {
  const auto peak = measure_arithmetic(compute, kLimitSeconds).operations_per_second;
  for (Json& entry : measured) {
    if (entry.contains("operations_per_second"))
      entry["share_of_arithmetic"] = entry["operations_per_second"].get<double>() / peak;
    if (!entry.contains("bytes_per_second")) continue;
    const double limit =
        measure_reading(area_of(entry["weight_bytes_per_step"].get<double>()), kLimitSeconds);
    entry["reading_limit"] = limit;
    entry["share_of_reading"] = entry["bytes_per_second"].get<double>() / limit;
  }
}

Json measure_model(const BenchArguments& options, const Threads& threads) {
  const Model model = load_model(options.model, threads);
  const BenchOptions bench = with_defaults(model, options.bench);
  const LoadedWeights weights = loaded_weights(model);
  Json facts = {
      {"model", options.model.path},         {"family", model.family()},
      {"parameters", weights.parameters},    {"weights", weights.bytes},
      {"compute", name_of(weights.compute)}, {"device", model.gpu().empty() ? "cpu" : model.gpu()},
      {"threads", thread_count()},           {"batch", bench.batch},
      {"num_beams", bench.num_beams}};
  std::vector<Measurement> all;
  if (options.input.empty())
    all = measure_tokens(model, bench);
  else
    all.push_back(measure_lines(model, read_lines(options.input), bench));
  facts["peak_memory"] = peak_memory();  // before add_shares() allocates
  for (const Measurement& measured : all) {
    Json& entry = facts["measured"][measured.what];
    entry = described(measured);
    if (measured.weight_bytes > 0) add_reading(entry, measured, bench.tokens);
  }
  if (model.gpu().empty()) add_shares(facts["measured"], weights.compute);
  return facts;
}

std::string utilisation(const Json& entry, const Json& facts) {
  if (entry.contains("share_of_reading"))
    return fmt::format("{:.1f} MB of weights per step: {:.0f}% of the machine's {:.1f} GB/s",
                       entry["weight_bytes_per_step"].get<double>() / 1e6,
                       100 * entry["share_of_reading"].get<double>(),
                       entry["reading_limit"].get<double>() / 1e9);
  if (entry.contains("bytes_per_second"))  // on a GPU
    return fmt::format("{:.1f} MB of weights per step: {:.1f} GB/s",
                       entry["weight_bytes_per_step"].get<double>() / 1e6,
                       entry["bytes_per_second"].get<double>() / 1e9);
  if (entry.contains("share_of_arithmetic"))
    return fmt::format("{:.0f} GFLOP/s: {:.0f}% of the machine's {} arithmetic",
                       entry["operations_per_second"].get<double>() / 1e9,
                       100 * entry["share_of_arithmetic"].get<double>(),
                       facts["compute"].get<std::string>());
  if (entry.contains("operations_per_second"))
    return fmt::format("{:.0f} GFLOP/s", entry["operations_per_second"].get<double>() / 1e9);
  return "";
}

void print_table(const Json& facts) {
  std::string weights;
  for (const auto& [dtype, bytes] : facts["weights"].items())
    weights += fmt::format("{}{:.1f} MB {}", weights.empty() ? "" : " + ",
                           bytes.get<double>() / 1e6, dtype);
  std::cout << fmt::format("{}: {}, {:.1f} million parameters, {}\n",
                           facts["model"].get<std::string>(), facts["family"].get<std::string>(),
                           facts["parameters"].get<double>() / 1e6, weights);
  std::cout << fmt::format("{}, {} threads, batch {}, num_beams {}, {} arithmetic\n\n",
                           facts["device"].get<std::string>(), facts["threads"].get<int>(),
                           facts["batch"].get<int64_t>(), facts["num_beams"].get<int>(),
                           facts["compute"].get<std::string>());
  for (const auto& [what, entry] : facts["measured"].items())
    std::cout << fmt::format("{:<8} {:>8} {:<8} {:>10.1f}/s  ({:.1f} to {:.1f})  {}\n", what,
                             entry["count"].get<int64_t>(), entry["unit"].get<std::string>(),
                             entry["per_second"].get<double>(), entry["slowest"].get<double>(),
                             entry["fastest"].get<double>(), utilisation(entry, facts));
  std::cout << fmt::format("memory   {:.0f} MB at peak\n",
                           facts["peak_memory"].get<double>() / 1e6);
}

int run_bench(const BenchArguments& options) {
  const Threads threads(options.common);
  if (options.limits) return print_limits(options);
  const Json facts = measure_model(options, threads);
  if (options.json)
    std::cout << json_line(facts);
  else
    print_table(facts);
  return 0;
}

void add_size_options(Command& command, BenchOptions& sizes) {
  const auto count = [&](const char* name, int64_t& value, const char* help, int64_t min = 1) {
    return command.add_option(name, value, help).range(min, kMaxTyped);
  };
  count("--prompt-tokens", sizes.prompt_tokens,
        "Tokens per prompt, source or text (default: 512 for a decoder, 32 for an "
        "encoder-decoder, 128 for an encoder)");
  count("--context", sizes.context_tokens,
        "Tokens of context before decoding starts (decoder-only models)")
      .show_default();
  count("--tokens", sizes.tokens, "Tokens decoded per prompt; 0: measure prefill only", 0)
      .show_default();
  count("--batch", sizes.batch,
        "Prompts per run (default: 1 for a decoder, 32 for models with an encoder)");
  count("--batch-tokens", sizes.batch_tokens, "Tokens per batch");
  command.add_option("--num-beams", sizes.num_beams, "Number of beams; 1: greedy search")
      .range(1, kMaxBeams)
      .show_default();
  command.add_renamed("--beam", "--num-beams");
  command.add_option("--repeat", sizes.repeat, "Number of measurements")
      .range(1, 10000)
      .show_default();
}

}  // namespace

void add_bench(Command& program) {
  Command command =
      program.add_subcommand("bench", "Measures the speed of a model or the limits of the machine");
  auto options = std::make_shared<BenchArguments>();
  add_model_options(command, options->model);
  command.option("--model").required(false);
  Option limits = command.add_flag("--limits", options->limits,
                                   "Measure only the machine: memory bandwidth and arithmetic");
  limits.excludes(command.option("--model"));
  add_size_options(command, options->bench);
  command
      .add_option("--input", options->input,
                  "Translate, embed or continue the lines of this file instead of synthetic tokens")
      .existing_file();
  command.add_flag("--json", options->json, "Print one JSON object");
  add_threads_option(command, options->common);
  command.footer(
      "Prefill reads the prompts, decode generates one token per step. Rates are medians, followed "
      "by\n"
      "the slowest and the fastest run in brackets. Loading is not included.\n"
      "Examples:\n"
      "  heed bench --model model.gguf\n"
      "  heed bench --model all-MiniLM-L6-v2 --input sentences.txt\n"
      "  heed bench --model model --num-beams 4 --batch 64 --json\n"
      "  heed bench --limits");
  command.set_action([command, options] {
    if (!options->limits && command.count("--model") == 0)
      throw MissingModel("heed bench needs a model: heed bench MODEL; or --limits");
    return run_bench(*options);
  });
}

}  // namespace heed::cli
