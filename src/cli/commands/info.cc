#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/model_facts.h"
#include "cli/find_model.h"
#include "cli/lines/json_line.h"
#include "cli/options/command.h"
#include "cli/terminal/bytes_text.h"
#include "cli/terminal/warnings.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/inspect/markup.h"
#include "heed/model/families/family.h"
#include "heed/model/families/known.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InfoOptions {
  CommonOptions common;
  std::string model;
  std::optional<int64_t> context;
  bool all = false, weights = false, json = false;
};

/// Everything that heed info prints.
struct Facts {
  std::unique_ptr<const model::Transformer> model;
  StoredWeights stored = {};
  TokenizerFacts tokenizer = {};
  MemoryNeeds memory = {};
};

/// "6 encoder, 6 decoder", or one number if there is one stack or both numbers are equal.
std::string per_stack(const model::ModelConfig& c, int64_t encoder, int64_t decoder) {
  if (c.encoder_layers > 0 && c.decoder_layers > 0 && encoder != decoder)
    return fmt::format("{} encoder, {} decoder", encoder, decoder);
  return fmt::format("{}", c.decoder_layers > 0 ? decoder : encoder);
}

std::string family_text(const model::Transformer& model) {
  const std::string_view stacks = !model.has_encoder()   ? "decoder"
                                  : !model.has_decoder() ? "encoder"
                                                         : "encoder-decoder";
  return fmt::format("{} ({})", model::family_for(model.config()).model_type, stacks);
}

std::string layers_text(const model::ModelConfig& c) {
  if (c.encoder_layers > 0 && c.decoder_layers > 0)
    return fmt::format("{} encoder, {} decoder", c.encoder_layers, c.decoder_layers);
  return fmt::format("{}", c.encoder_layers + c.decoder_layers);
}

std::string heads_text(const model::ModelConfig& c) {
  std::string text = per_stack(c, c.encoder_heads, c.n_heads);
  if (c.n_kv_heads != c.n_heads) text += fmt::format(" ({} key/value heads)", c.n_kv_heads);
  return text;
}

std::string head_dim_text(const model::ModelConfig& c) {
  return c.v_head_dim == c.head_dim ? fmt::format("{}", c.head_dim)
                                    : fmt::format("{} (values {})", c.head_dim, c.v_head_dim);
}

std::string feed_forward_text(const model::ModelConfig& c) {
  std::string text = fmt::format("{} ({}{})", per_stack(c, c.encoder_d_ff, c.d_ff),
                                 c.gated ? "gated " : "", name_of(c.activation));
  if (!c.moe.present()) return text;
  return text + fmt::format("; {} experts of {}, {} per token and {} shared", c.moe.n_experts,
                            c.moe.d_expert, c.moe.experts_per_token, c.moe.n_shared_experts);
}

std::string context_text(const model::ModelConfig& c) {
  using enum model::PositionKind;
  const bool bounded = c.positions != none && c.positions != relative;
  return fmt::format("{} ({} positions)",
                     bounded ? inspect::grouped(c.max_positions) + " tokens" : "not limited",
                     name_of(c.positions));
}

std::string tokenizer_text(const TokenizerFacts& tokenizer) {
  if (!tokenizer.missing.empty()) return "none: " + one_line(tokenizer.missing);
  return fmt::format("{}, {} pieces", tokenizer.files, inspect::grouped(tokenizer.pieces));
}

std::string stored_text(const StoredWeights& stored) {
  if (!stored.missing.empty()) return "none: " + one_line(stored.missing);
  std::string tensors;
  for (const auto& [type, count] : stored.tensors)
    tensors += fmt::format("{}{} {}", tensors.empty() ? "" : ", ", count, type);
  return fmt::format("{}: tensors {}", bytes_text(stored.bytes), tensors);
}

std::string sizes_text(const model::Transformer& model) {
  std::string text;
  for (const DType dtype : {DType::f32, DType::bf16, DType::q8_0, DType::q4_0})
    text += fmt::format("{}{} in {}", text.empty() ? "" : ", ",
                        bytes_text(weight_bytes(model, dtype)), name_of(dtype));
  return text;
}

std::string memory_text(const Facts& facts) {
  const MemoryNeeds& memory = facts.memory;
  const std::string weights = fmt::format("weights {}{}", bytes_text(memory.weight_bytes),
                                          facts.stored.missing.empty() ? "" : " (f32)");
  if (!facts.model->has_decoder()) return weights;
  return fmt::format("{} for {} tokens: {} + kv cache {} ({})", bytes_text(memory.bytes()),
                     inspect::grouped(memory.context), weights, bytes_text(memory.cache_bytes),
                     name_of(memory.cache_type));
}

void print_line(const std::string& name, const std::string& value) {
  std::cout << fmt::format("{:<14} {}\n", name, value);
}

void print_summary(const Facts& facts) {
  const model::ModelConfig& c = facts.model->config();
  print_line("family", family_text(*facts.model));
  print_line("parameters", inspect::grouped(facts.model->parameters().count()));
  print_line("layers", layers_text(c));
  print_line("d_model", fmt::format("{}", c.d_model));
  print_line("heads", heads_text(c));
  print_line("head_dim", head_dim_text(c));
  print_line("d_ff", feed_forward_text(c));
  print_line("vocabulary", inspect::grouped(c.vocab_size));
  print_line("context", context_text(c));
  print_line("tokenizer", tokenizer_text(facts.tokenizer));
  print_line("weights", stored_text(facts.stored));
  print_line("sizes", sizes_text(*facts.model));
  print_line("memory", memory_text(facts));
}

Json to_json(const Facts& facts, bool weights) {
  const model::Transformer& model = *facts.model;
  Json json = {{"family", model::family_for(model.config()).model_type},
               {"parameters", model.parameters().count()}};
  for (const DType dtype : {DType::f32, DType::bf16, DType::q8_0, DType::q4_0})
    json[fmt::format("{}_bytes", name_of(dtype))] = weight_bytes(model, dtype);
  json["cache_bytes_per_token"] = cache_bytes(model, DType::f32);
  for (const DType dtype : {DType::bf16, DType::q8_0})
    json[fmt::format("{}_cache_bytes_per_token", name_of(dtype))] = cache_bytes(model, dtype);
  if (facts.stored.missing.empty())
    json["stored"] = {{"tensors", facts.stored.tensors}, {"bytes", facts.stored.bytes}};
  if (facts.tokenizer.missing.empty())
    json["tokenizer"] = {{"files", facts.tokenizer.files}, {"pieces", facts.tokenizer.pieces}};
  json["memory"] = {{"context", facts.memory.context},
                    {"cache_type", name_of(facts.memory.cache_type)},
                    {"weight_bytes", facts.memory.weight_bytes},
                    {"cache_bytes", facts.memory.cache_bytes},
                    {"bytes", facts.memory.bytes()}};
  json.update(model::heed_family().write_config(model.config()));
  json.erase("model_type");
  if (weights)
    for (const Parameter& parameter : model.parameters().all())
      json["weights"][parameter.name] = parameter.shape.text();
  return json;
}

/// All fields of the configuration, under heed's names.
void print_configuration(const model::ModelConfig& config) {
  const nlohmann::json fields = model::heed_family().write_config(config);
  std::cout << '\n';
  for (const auto& [key, value] : fields.items())
    if (key != "model_type")
      std::cout << fmt::format("{:<38} {}\n", key,
                               value.is_string() ? value.get<std::string>() : dump_json(value));
}

void print_weights(const model::Transformer& model) {
  std::cout << '\n';
  for (const Parameter& parameter : model.parameters().all())
    std::cout << fmt::format("{:<55} {}\n", parameter.name, parameter.shape.text());
}

int run_info(const InfoOptions& options) {
  const Threads threads(options.common);
  const std::string path = find_model(options.model, {.weights = false});
  Facts facts{.model = checkpoint::build_model(path)};
  print_warnings(facts.model->config().warnings);
  facts.stored = stored_weights(path);
  facts.tokenizer = tokenizer_facts(path);
  facts.memory = memory_needs(*facts.model, facts.stored, options.context);
  if (options.json) {
    std::cout << json_line(to_json(facts, options.weights));
    return 0;
  }
  print_summary(facts);
  if (options.all) print_configuration(facts.model->config());
  if (options.weights) print_weights(*facts.model);
  return 0;
}

}  // namespace

void add_info(Command& program) {
  Command command = program.add_subcommand(
      "info", "Describes a model: family, sizes, stored types, tokenizer, memory");
  auto options = std::make_shared<InfoOptions>();
  command
      .add_option(
          "model", options->model,
          "Model directory (config.json is enough), GGUF file, or OWNER/NAME of the hub, of "
          "which no weights are downloaded")
      .required();
  command
      .add_option("--context", options->context,
                  "Length of the context in tokens for the memory estimate (default: the model's "
                  "context length, at most 8192)")
      .range(int64_t{1}, int64_t{1} << 40);
  command.add_flag("--all", options->all, "Also print the whole configuration");
  command.add_flag("--weights", options->weights, "Also list every weight with its shape");
  command.add_flag("--json", options->json, "Print everything as one JSON object");
  add_common_options(command, options->common);
  command.footer(
      "The memory estimate covers the weights as stored (in f32 if there is only config.json) and\n"
      "the kv cache. An encoder-decoder has two caches, for source and output, each of --context\n"
      "tokens.\n"
      "Examples:\n"
      "  heed info model\n"
      "  heed info model.gguf --context 4096\n"
      "  heed info model.gguf --json");
  command.set_action([options] { return run_info(*options); });
}

}  // namespace heed::cli
