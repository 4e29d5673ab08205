#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "heed/format/model_directory.h"
#include "heed/model/families/family.h"
#include "heed/model/families/heed.h"

namespace heed::cli {
namespace {

struct InfoOptions {
  CommonOptions common;
  std::string model;
  bool json = false, weights = false;
};

nlohmann::ordered_json describe(const model::Transformer& model) {
  const model::ModelConfig& c = model.config();
  const int64_t cache = c.decoder_layers * c.n_kv_heads * (c.d_head + c.d_value) * 4;
  nlohmann::ordered_json facts = {{"family", model::family_for(c).model_type},
                                  {"parameters", model.parameters().count()},
                                  {"weight_bytes", model.parameters().count() * 4},
                                  {"cache_bytes_per_token", cache}};
  facts.update(model::heed_family().write_config(c));
  facts.erase("model_type");
  return facts;
}

int run_info(const InfoOptions& options) {
  const auto model = format::load_model(options.model);
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
      std::cout << fmt::format("{:<22} {}\n", key,
                               value.is_string() ? value.get<std::string>() : value.dump());
  }
  return 0;
}

}  // namespace

void add_info(CLI::App& program) {
  auto* app = program.add_subcommand("info", "Describes a model: sizes, parameters, memory");
  auto options = std::make_shared<InfoOptions>();
  app->add_option("model", options->model, "Model directory")->required();
  app->add_flag("--weights", options->weights, "List every weight with its shape");
  app->add_flag("--json", options->json, "Print a JSON object");
  add_common_options(*app, options->common);
  app->footer("Example:\n  heed info model");
  set_action(*app, [options] { return run_info(*options); });
}

}  // namespace heed::cli
