#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <tuple>

#include "cli/find_model.h"
#include "cli/lines/output.h"
#include "cli/options/command.h"
#include "cli/terminal/bytes_text.h"
#include "cli/terminal/warnings.h"
#include "heed/base/display.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/devices.h"
#include "heed/model_facts.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InfoOptions {
  CommonOptions common;
  std::string model;
  std::optional<int64_t> context;
  bool all = false, weights = false, devices = false, json = false;
};

/// A field of the configuration.
int64_t number(const Json& config, const char* field) { return config.at(field).get<int64_t>(); }

/// "6 encoder, 6 decoder", or one number if there is one stack or both numbers are equal.
std::string per_stack(const ModelFacts& facts, int64_t encoder, int64_t decoder) {
  if (facts.has_encoder && facts.has_decoder && encoder != decoder)
    return fmt::format("{} encoder, {} decoder", encoder, decoder);
  return fmt::format("{}", facts.has_decoder ? decoder : encoder);
}

std::string family_text(const ModelFacts& facts) {
  const std::string_view stacks = !facts.has_encoder   ? "decoder"
                                  : !facts.has_decoder ? "encoder"
                                                       : "encoder-decoder";
  return fmt::format("{} ({})", facts.family, stacks);
}

std::string layers_text(const ModelFacts& facts, const Json& config) {
  const int64_t encoder = number(config, "encoder_layers"),
                decoder = number(config, "decoder_layers");
  if (facts.has_encoder && facts.has_decoder)
    return fmt::format("{} encoder, {} decoder", encoder, decoder);
  return fmt::format("{}", encoder + decoder);
}

std::string heads_text(const ModelFacts& facts, const Json& config) {
  const int64_t heads = number(config, "num_attention_heads"),
                kv_heads = number(config, "num_key_value_heads");
  std::string text = per_stack(facts, number(config, "encoder_attention_heads"), heads);
  if (kv_heads != heads) text += fmt::format(" ({} key/value heads)", kv_heads);
  return text;
}

std::string head_dim_text(const Json& config) {
  const int64_t keys = number(config, "head_dim"), values = number(config, "v_head_dim");
  return values == keys ? fmt::format("{}", keys) : fmt::format("{} (values {})", keys, values);
}

std::string feed_forward_text(const ModelFacts& facts, const Json& config) {
  std::string text = fmt::format(
      "{} ({}{})", per_stack(facts, number(config, "encoder_ffn_dim"), number(config, "d_ff")),
      config.at("is_gated_act").get<bool>() ? "gated " : "",
      config.at("hidden_act").get<std::string>());
  if (number(config, "n_routed_experts") == 0) return text;
  return text +
         fmt::format("; {} experts of {}, {} per token and {} shared",
                     number(config, "n_routed_experts"), number(config, "moe_intermediate_size"),
                     number(config, "num_experts_per_tok"), number(config, "n_shared_experts"));
}

std::string context_text(const Json& config) {
  const auto positions = config.at("position_embedding_type").get<std::string>();
  const bool bounded = positions != "none" && positions != "relative";
  return fmt::format(
      "{} ({} positions)",
      bounded ? grouped(number(config, "max_position_embeddings")) + " tokens" : "not limited",
      positions);
}

std::string tokenizer_text(const TokenizerFacts& tokenizer) {
  if (!tokenizer.missing.empty()) return "none: " + one_line(tokenizer.missing);
  return fmt::format("{}, {} pieces", tokenizer.files, grouped(tokenizer.pieces));
}

/// "from en, fr into de, es"; of many languages some.
std::string languages_text(const TokenizerFacts& tokenizer) {
  const auto list = [](const std::vector<std::string>& codes) {
    constexpr size_t kMost = 12;
    const std::span shown = std::span(codes).first(std::min(codes.size(), kMost));
    return fmt::format("{}{}", fmt::join(shown, ", "),
                       codes.size() > kMost ? fmt::format(", ... ({})", codes.size()) : "");
  };
  const auto& [source, target] = std::tie(tokenizer.source_languages, tokenizer.languages);
  if (source == target) return list(target);
  return fmt::format("{}into {}", source.empty() ? "" : fmt::format("from {} ", list(source)),
                     list(target));
}

std::string stored_text(const StoredWeights& stored) {
  if (!stored.missing.empty()) return "none: " + one_line(stored.missing);
  std::string tensors;
  for (const auto& [type, count] : stored.tensors)
    tensors += fmt::format("{}{} {}", tensors.empty() ? "" : ", ", count, type);
  return fmt::format("{}: tensors {} in {}", bytes_text(stored.bytes), tensors,
                     one_line(stored.file));
}

/// The types of weights whose sizes are shown.
constexpr WeightType kSizes[] = {WeightType::f32, WeightType::bf16, WeightType::q8_0,
                                 WeightType::q4_0};

std::string sizes_text(const ModelFacts& facts) {
  std::string text;
  for (const WeightType type : kSizes)
    text += fmt::format("{}{} in {}", text.empty() ? "" : ", ",
                        bytes_text(facts.weight_bytes.at(type)), name_of(type));
  return text;
}

std::string memory_text(const ModelFacts& facts) {
  const MemoryNeeds& memory = facts.memory;
  const std::string weights = fmt::format("weights {}{}", bytes_text(memory.weight_bytes),
                                          facts.stored.missing.empty() ? "" : " (f32)");
  if (!facts.has_decoder) return weights;
  return fmt::format("{} for {} tokens: {} + kv cache {} ({})", bytes_text(memory.bytes()),
                     grouped(memory.context), weights, bytes_text(memory.cache_bytes),
                     name_of(memory.cache_type));
}

void print_line(const std::string& name, const std::string& value) {
  std::cout << fmt::format("{:<14} {}\n", name, value);
}

void print_summary(const ModelFacts& facts) {
  const Json config = parse_ordered_json(facts.configuration, "the configuration");
  print_line("family", family_text(facts));
  print_line("parameters", grouped(facts.parameters));
  print_line("layers", layers_text(facts, config));
  print_line("d_model", fmt::format("{}", number(config, "d_model")));
  print_line("heads", heads_text(facts, config));
  print_line("head_dim", head_dim_text(config));
  print_line("d_ff", feed_forward_text(facts, config));
  print_line("vocabulary", grouped(number(config, "vocab_size")));
  print_line("context", context_text(config));
  print_line("tokenizer", tokenizer_text(facts.tokenizer));
  if (!facts.tokenizer.languages.empty()) print_line("languages", languages_text(facts.tokenizer));
  print_line("weights", stored_text(facts.stored));
  print_line("sizes", sizes_text(facts));
  print_line("memory", memory_text(facts));
  print_line("arithmetic",
             fmt::format("{}{}", name_of(facts.compute),
                         facts.bf16_is_faster ? "; --compute bf16 is faster on this CPU" : ""));
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Json to_json(const ModelFacts& facts, bool weights) {
  Json json = {{"family", facts.family}, {"parameters", facts.parameters}};
  for (const WeightType type : kSizes)
    json[fmt::format("{}_bytes", name_of(type))] = facts.weight_bytes.at(type);
  json["cache_bytes_per_token"] = facts.cache_bytes_per_token.at(CacheType::f32);
  json["bf16_cache_bytes_per_token"] = facts.cache_bytes_per_token.at(CacheType::bf16);
  json["q8_0_cache_bytes_per_token"] = facts.cache_bytes_per_token.at(CacheType::int8);
  if (facts.stored.missing.empty())
    json["stored"] = {{"tensors", facts.stored.tensors},
                      {"bytes", facts.stored.bytes},
                      {"file", facts.stored.file}};
  if (facts.tokenizer.missing.empty())
    json["tokenizer"] = {{"files", facts.tokenizer.files}, {"pieces", facts.tokenizer.pieces}};
  if (!facts.tokenizer.languages.empty()) {
    json["languages"] = facts.tokenizer.languages;
    json["source_languages"] = facts.tokenizer.source_languages;
  }
  json["compute"] = name_of(facts.compute);
  json["bf16_is_faster"] = facts.bf16_is_faster;
  json["memory"] = {{"context", facts.memory.context},
                    {"cache_type", name_of(facts.memory.cache_type)},
                    {"weight_bytes", facts.memory.weight_bytes},
                    {"cache_bytes", facts.memory.cache_bytes},
                    {"bytes", facts.memory.bytes()}};
  json.update(parse_ordered_json(facts.configuration, "the configuration"));
  if (weights)
    for (const WeightFacts& weight : facts.weights)
      json["weights"][weight.name] = shape_text(weight.shape);
  return json;
}

/// All fields of the configuration, under heed's names.
void print_configuration(const ModelFacts& facts) {
  std::cout << '\n';
  const Json fields = parse_ordered_json(facts.configuration, "the configuration");
  for (const auto& [key, value] : fields.items())
    std::cout << fmt::format("{:<38} {}\n", key,
                             value.is_string() ? value.get<std::string>() : dump_json(value));
}

void print_weights(const ModelFacts& facts) {
  std::cout << '\n';
  for (const WeightFacts& weight : facts.weights)
    std::cout << fmt::format("{:<55} {}\n", weight.name, shape_text(weight.shape));
}

std::string device_text(const DeviceInfo& gpu) {
  std::string text = fmt::format("{}, compute capability {}.{}, ", gpu.name, gpu.major, gpu.minor);
  if (!gpu.problem.empty())
    return text + fmt::format("{}, not used: {}", bytes_text(gpu.memory_bytes), gpu.problem);
  return text +
         fmt::format("{} of {} free", bytes_text(gpu.free_bytes), bytes_text(gpu.memory_bytes));
}

void print_devices(const Devices& devices) {
  if (!devices.missing.empty()) print_line("gpu", "none: " + one_line(devices.missing));
  for (const DeviceInfo& gpu : devices.gpus)
    print_line(fmt::format("gpu:{}", gpu.ordinal), one_line(device_text(gpu)));
}

Json to_json(const Devices& devices) {
  Json gpus = Json::array();
  for (const DeviceInfo& gpu : devices.gpus) {
    Json one = {{"device", fmt::format("gpu:{}", gpu.ordinal)},
                {"name", gpu.name},
                {"compute_capability", fmt::format("{}.{}", gpu.major, gpu.minor)},
                {"memory_bytes", gpu.memory_bytes}};
    if (gpu.problem.empty())
      one["free_bytes"] = gpu.free_bytes;
    else
      one["problem"] = gpu.problem;
    gpus.push_back(std::move(one));
  }
  Json json = {{"gpus", std::move(gpus)}};
  if (!devices.missing.empty()) json["missing"] = devices.missing;
  return json;
}

ModelFacts describe(const InfoOptions& options) {
  ModelFacts facts = describe_model(find_model(options.model, {.weights = false}));
  print_warnings(facts.warnings);
  if (options.context) facts.memory = memory_needs(facts, options.context);
  return facts;
}

void print_model(const ModelFacts& facts, const InfoOptions& options) {
  print_summary(facts);
  if (options.all) print_configuration(facts);
  if (options.weights) print_weights(facts);
}

int run_info(const InfoOptions& options) {
  if (options.model.empty() && !options.devices)
    throw MissingModel("heed info needs a model: heed info MODEL; or --devices");
  const Threads threads(options.common);
  std::optional<ModelFacts> facts;
  if (!options.model.empty()) facts = describe(options);
  if (options.json) {
    Json json = facts ? to_json(*facts, options.weights) : Json::object();
    if (options.devices) json["devices"] = to_json(devices());
    std::cout << json_line(json);
    return 0;
  }
  if (facts) print_model(*facts, options);
  if (options.devices) print_devices(devices());
  return 0;
}

}  // namespace

void add_info(Command& program) {
  Command command = program.add_subcommand(
      "info", "Describes a model: family, sizes, stored types, tokenizer, memory");
  auto options = std::make_shared<InfoOptions>();
  command
      .add_option("model,--model", options->model,
                  "Model directory (config.json is enough), GGUF file, or [OWNER/]NAME of the "
                  "Hugging Face hub, of which no weights are downloaded")
      .names_model();
  command
      .add_option("--context", options->context,
                  "Length of the context in tokens for the memory estimate (default: the model's "
                  "context length, at most 8192)")
      .range(int64_t{1}, int64_t{1} << 40);
  command.add_flag("--all", options->all, "Also print the whole configuration");
  command.add_flag("--weights", options->weights, "Also list every weight with its shape");
  command.add_flag(
      "--devices", options->devices,
      "Also list the GPUs of this machine, or say why heed finds none; needs no model");
  command.add_flag("--json", options->json, "Print everything as one JSON object");
  add_threads_option(command, options->common);
  command.footer(
      "The memory estimate covers the weights as stored (in f32 if there is only config.json) and\n"
      "the kv cache. An encoder-decoder has two caches, for source and output, each of --context\n"
      "tokens.\n"
      "Examples:\n"
      "  heed info model\n"
      "  heed info model.gguf --context 4096\n"
      "  heed info model.gguf --json\n"
      "  heed info --devices");
  command.set_action([options] { return run_info(*options); });
}

}  // namespace heed::cli
