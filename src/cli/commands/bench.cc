#include <sys/resource.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/bench_measure.h"
#include "cli/lines/json_line.h"
#include "cli/options/command.h"
#include "cli/options/model_options.h"
#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/data/parallel_text.h"
#include "heed/engine/loaded_model.h"
#include "heed/generate/cached_decoder.h"
#include "heed/kernels/limits.h"
#include "heed/model/families/family.h"
#include "heed/train/distributed/machine.h"

namespace heed::cli {
namespace {

using kernels::Arithmetic;
using Json = nlohmann::ordered_json;

// Seconds spent on each limit of the machine: beside a model, and with --limits.
constexpr double kLimitSeconds = 0.3, kLimitsOnlySeconds = 1.0;
// Bytes read to measure bandwidth: of the caches, and of the memory.
constexpr int64_t kCacheArea = int64_t{16} << 20, kMemoryArea = int64_t{1} << 30;

struct BenchOptions {
  CommonOptions common;
  ModelOptions model;
  BenchSizes sizes{.prompt_tokens = 512, .context_tokens = 16, .tokens = 64, .repeat = 5};
  std::string input;
  bool limits = false, json = false;
};

/// The size of the area for measuring how fast `bytes` are read, limited by the available memory.
int64_t area_of(double bytes) {
  const int64_t max_area =
      std::max(std::min(kMemoryArea, train::available_memory() / 4), kCacheArea);
  return std::clamp(static_cast<int64_t>(bytes), kCacheArea, max_area);
}

Json limits_of_machine() {
  Json facts = {{"threads", thread_count()}};
  for (const auto& [name, bytes] : {std::pair{"memory", kMemoryArea}, {"caches", kCacheArea}}) {
    const int64_t area = area_of(static_cast<double>(bytes));
    facts["reading"][name] = {
        {"bytes", area}, {"bytes_per_second", kernels::measure_reading(area, kLimitsOnlySeconds)}};
  }
  for (const Arithmetic kind : {Arithmetic::f32, Arithmetic::bf16, Arithmetic::int8}) {
    const kernels::ArithmeticRate rate = kernels::measure_arithmetic(kind, kLimitsOnlySeconds);
    facts["arithmetic"][name_of(kind)] = {{"operations_per_second", rate.operations_per_second},
                                          {"instructions", rate.instructions}};
  }
  return facts;
}

int print_limits(const BenchOptions& options) {
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

/// Defaults that depend on the kind of model and its context length.
BenchSizes sizes_for(const model::Transformer& model, BenchSizes sizes, bool prompt_given) {
  const model::ModelConfig& config = model.config();
  if (!prompt_given && model.has_encoder()) sizes.prompt_tokens = model.has_decoder() ? 32 : 128;
  if (!prompt_given && config.positions != model::PositionKind::none)
    sizes.prompt_tokens = std::min(sizes.prompt_tokens, config.max_positions);
  if (sizes.batch == 0) sizes.batch = model.has_encoder() ? 32 : 1;
  return sizes;
}

/// Bytes of the weights by stored type.
std::map<std::string, int64_t> stored_bytes(const model::Transformer& model) {
  std::map<std::string, int64_t> bytes;
  for (const Parameter& parameter : model.parameters().all())
    bytes[std::string(name_of(parameter.value.dtype()))] += parameter.value.bytes();
  return bytes;
}

int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

Json described(const Measurement& measured, double peak) {
  Json facts = {{"count", measured.count},
                {"unit", measured.unit},
                {"per_second", measured.rate()},
                {"slowest", measured.slowest_rate()},
                {"fastest", measured.fastest_rate()},
                {"seconds", measured.seconds}};
  if (measured.operations > 0) {
    const double rate = measured.operations / measured.median_seconds();
    facts["operations_per_second"] = rate;
    facts["share_of_arithmetic"] = rate / peak;
  }
  return facts;
}

/// Adds how fast a decoding step reads the weights, compared with the machine's bandwidth for as
/// many bytes.
void add_reading(Json& facts, const Measurement& measured, int64_t steps) {
  const double bytes = measured.weight_bytes / static_cast<double>(steps);
  const double rate = measured.weight_bytes / measured.median_seconds();
  const double limit = kernels::measure_reading(area_of(bytes), kLimitSeconds);
  facts["weight_bytes_per_step"] = bytes;
  facts["bytes_per_second"] = rate;
  facts["reading_limit"] = limit;
  facts["share_of_reading"] = rate / limit;
}

/// The arithmetic of most of the work.
Arithmetic arithmetic_of(const model::Transformer& model, DType dtype) {
  return generate::computes_in_int8(model) ? Arithmetic::int8
         : dtype == DType::bf16            ? Arithmetic::bf16
                                           : Arithmetic::f32;
}

Json measure_model(const BenchOptions& options, const Threads& threads, bool prompt_given) {
  const Model loaded = load_model(options.model, threads);
  const model::Transformer& model = *engine::loaded(loaded).transformer;
  BenchSizes sizes = sizes_for(model, options.sizes, prompt_given);
  sizes.dtype = engine::loaded(loaded).activations();
  const Arithmetic arithmetic = arithmetic_of(model, sizes.dtype);
  Json facts = {{"model", options.model.path},
                {"family", model::family_for(model.config()).model_type},
                {"parameters", model.parameters().count()},
                {"weights", stored_bytes(model)},
                {"compute", name_of(arithmetic)},
                {"threads", thread_count()},
                {"batch", sizes.batch},
                {"num_beams", sizes.num_beams}};
  std::vector<Measurement> all;
  if (options.input.empty())
    all = measure_tokens(model, sizes);
  else
    all.push_back(measure_lines(loaded, data::read_lines(options.input), sizes));
  facts["peak_memory"] = peak_memory();  // before measure_arithmetic() allocates
  const auto peak = kernels::measure_arithmetic(arithmetic, kLimitSeconds);
  for (const Measurement& measured : all) {
    Json& entry = facts["measured"][measured.what];
    entry = described(measured, peak.operations_per_second);
    if (measured.weight_bytes > 0) add_reading(entry, measured, sizes.tokens);
  }
  return facts;
}

std::string utilisation(const Json& entry, const Json& facts) {
  if (entry.contains("share_of_reading"))
    return fmt::format("{:.1f} MB of weights per step: {:.0f}% of the machine's {:.1f} GB/s",
                       entry["weight_bytes_per_step"].get<double>() / 1e6,
                       100 * entry["share_of_reading"].get<double>(),
                       entry["reading_limit"].get<double>() / 1e9);
  if (entry.contains("share_of_arithmetic"))
    return fmt::format("{:.0f} GFLOP/s: {:.0f}% of the machine's {} arithmetic",
                       entry["operations_per_second"].get<double>() / 1e9,
                       100 * entry["share_of_arithmetic"].get<double>(),
                       facts["compute"].get<std::string>());
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
  std::cout << fmt::format("{} threads, batch {}, num_beams {}, {} arithmetic\n\n",
                           facts["threads"].get<int>(), facts["batch"].get<int64_t>(),
                           facts["num_beams"].get<int>(), facts["compute"].get<std::string>());
  for (const auto& [what, entry] : facts["measured"].items())
    std::cout << fmt::format("{:<8} {:>8} {:<8} {:>10.1f}/s  ({:.1f} to {:.1f})  {}\n", what,
                             entry["count"].get<int64_t>(), entry["unit"].get<std::string>(),
                             entry["per_second"].get<double>(), entry["slowest"].get<double>(),
                             entry["fastest"].get<double>(), utilisation(entry, facts));
  std::cout << fmt::format("memory   {:.0f} MB at peak\n",
                           facts["peak_memory"].get<double>() / 1e6);
}

int run_bench(const BenchOptions& options, bool prompt_given) {
  const Threads threads(options.common);
  if (options.limits) return print_limits(options);
  const Json facts = measure_model(options, threads, prompt_given);
  if (options.json)
    std::cout << json_line(facts);
  else
    print_table(facts);
  return 0;
}

Option add_size_options(Command& command, BenchSizes& sizes) {
  const auto count = [&](const char* name, int64_t& value, const char* help, int64_t min = 1) {
    return command.add_option(name, value, help).range(min, kMaxCount);
  };
  Option prompt = count("--prompt-tokens", sizes.prompt_tokens,
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
  return prompt;
}

}  // namespace

void add_bench(Command& program) {
  Command command =
      program.add_subcommand("bench", "Measures the speed of a model or the limits of the machine");
  auto options = std::make_shared<BenchOptions>();
  add_model_options(command, options->model);
  command.option("--model").required(false);
  Option limits = command.add_flag("--limits", options->limits,
                                   "Measure only the machine: memory bandwidth and arithmetic");
  limits.excludes(command.option("--model"));
  Option prompt = add_size_options(command, options->sizes);
  command
      .add_option("--input", options->input,
                  "Translate, embed or continue the lines of this file instead of synthetic tokens")
      .existing_file();
  command.add_flag("--json", options->json, "Print one JSON object");
  add_common_options(command, options->common);
  command.footer(
      "Prefill reads the prompts, decode generates one token per step. Rates are medians, followed "
      "by\n"
      "the slowest and the fastest run in brackets. Loading is not included.\n"
      "Examples:\n"
      "  heed bench --model model.gguf\n"
      "  heed bench --model all-MiniLM-L6-v2 --input sentences.txt\n"
      "  heed bench --model model --num-beams 4 --batch 64 --json\n"
      "  heed bench --limits");
  command.set_action([command, options, prompt] {
    if (!options->limits && command.count("--model") == 0)
      throw UsageError("--model or --limits is required");
    return run_bench(*options, prompt.count() > 0);
  });
}

}  // namespace heed::cli
