#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/model/families/family.h"
#include "heed/model/families/heed.h"
#include "heed/quantize/quantization.h"

namespace heed::cli {
namespace {

struct InfoOptions {
  CommonOptions common;
  std::string model;
  bool json = false, weights = false;
};

/// Bytes of all parameters when they are kept as load_model() keeps them in `dtype`.
int64_t weight_bytes(const model::Transformer& model, DType dtype) {
  int64_t bytes = 0;
  for (const Parameter& parameter : model.parameters().all())
    bytes += bytes_of(quantize::quantized_dtype(dtype, parameter, parameter.shape, DType::f32),
                      parameter.shape.elements());
  return bytes;
}

/// Of what self-attention keeps of a decoded token.
int64_t cache_bytes(const model::ModelConfig& c, DType dtype) {
  const int64_t numbers = c.latent.present() ? c.latent.kv_lora_rank + c.latent.qk_rope_head_dim
                                             : c.n_kv_heads * (c.d_head + c.d_value);
  return c.decoder_layers * bytes_of(dtype, numbers);
}

nlohmann::ordered_json describe(const model::Transformer& model) {
  const model::ModelConfig& c = model.config();
  nlohmann::ordered_json facts = {{"family", model::family_for(c).model_type},
                                  {"parameters", model.parameters().count()}};
  for (const DType dtype : {DType::f32, DType::bf16, DType::q8_0, DType::q4_0})
    facts[fmt::format("{}_bytes", name_of(dtype))] = weight_bytes(model, dtype);
  facts["cache_bytes_per_token"] = cache_bytes(c, DType::f32);
  for (const DType dtype : {DType::bf16, DType::q8_0})
    facts[fmt::format("{}_cache_bytes_per_token", name_of(dtype))] = cache_bytes(c, dtype);
  facts.update(model::heed_family().write_config(c));
  facts.erase("model_type");
  return facts;
}

int run_info(const InfoOptions& options) {
  const auto model = checkpoint::build_model(options.model);
  nlohmann::ordered_json facts = describe(*model);
  if (options.weights)
    for (const Parameter& parameter : model->parameters().all())
      facts["weights"][parameter.name] = parameter.shape.text();
  if (options.json) {
    std::cout << facts << '\n';
    return 0;
  }
  for (const auto& [key, value] : facts.items()) {
    if (key == "weights")
      for (const auto& [name, shape] : value.items())
        std::cout << fmt::format("  {:<55} {}\n", name, shape.get<std::string>());
    else
      std::cout << fmt::format("{:<26} {}\n", key,
                               value.is_string() ? value.get<std::string>() : value.dump());
  }
  return 0;
}

}  // namespace

void add_info(CLI::App& program) {
  auto* app = program.add_subcommand("info", "Describes a model: sizes, parameters, memory");
  auto options = std::make_shared<InfoOptions>();
  app->add_option("model", options->model, "Model directory (config.json is enough) or GGUF file")
      ->required();
  app->add_flag("--weights", options->weights, "List every weight with its shape");
  app->add_flag("--json", options->json, "Print a JSON object");
  add_common_options(*app, options->common);
  app->footer("Examples:\n  heed info model\n  heed info model.gguf --json");
  set_action(*app, [options] { return run_info(*options); });
}

}  // namespace heed::cli
