#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/find_model.h"
#include "cli/options/command.h"
#include "cli/options/model_options.h"
#include "cli/terminal/warnings.h"
#include "heed/base/error.h"
#include "heed/engine/adapters.h"
#include "heed/engine/load.h"
#include "heed/tasks/hidden_states.h"

namespace heed::cli {
namespace {

struct LogitsOptions {
  CommonOptions common;
  ModelOptions model;
  std::vector<int32_t> source_tokens, tokens;
};

Tensor states_of(const model::Transformer& model, const LogitsOptions& options) {
  Context context{.dtype = engine::activation_dtype(options.model.load)};
  const std::vector<int32_t> source_offsets{0, static_cast<int32_t>(options.source_tokens.size())};
  const std::vector<int32_t> offsets{0, static_cast<int32_t>(options.tokens.size())};
  const bool both = model.has_encoder() && model.has_decoder();
  require(both != options.source_tokens.empty(), "{}",
          both ? "--source-tokens is missing: the model is an encoder-decoder"
               : "--source-tokens is for encoder-decoders, this model reads only --tokens");
  if (!both) return tasks::hidden_states(model, context, {options.tokens, offsets});
  return model.decode_all(context, {options.tokens, offsets},
                          model.encode(context, {options.source_tokens, source_offsets}));
}

int run_logits(const LogitsOptions& options) {
  const Threads threads(options.common);
  const std::vector<AdapterOptions> found = find_adapters(options.model.adapters);
  const auto model = engine::load_transformer(
      find_model(options.model.path, {.weights = !options.model.load.random_weights}),
      options.model.load);
  print_warnings(model->config().warnings);
  const engine::LoadedAdapters adapters(*model, found);
  print_warnings(adapters.warnings());
  Context context{.dtype = engine::activation_dtype(options.model.load)};
  const Tensor logits = model->logits(context, states_of(*model, options));
  nlohmann::json rows = nlohmann::json::array();
  for (int64_t row = 0; row < logits.rows(); ++row) {
    const float* values = logits.data<float>() + row * logits.cols();
    rows.push_back(std::vector<float>(values, values + logits.cols()));
  }
  std::cout << nlohmann::json{{"shape", {logits.rows(), logits.cols()}}, {"logits", rows}} << '\n';
  return 0;
}

}  // namespace

void add_logits(Command& program) {
  Command command =
      program.add_subcommand("logits", "Prints the logits of a model for given tokens as JSON");
  auto options = std::make_shared<LogitsOptions>();
  add_model_options(command, options->model);
  command
      .add_option("--source-tokens", options->source_tokens,
                  "Token ids for the encoder of an encoder-decoder, separated by commas")
      .delimiter(',');
  command
      .add_option(
          "--tokens", options->tokens,
          "Token ids, separated by commas; for an encoder-decoder the input of the decoder, "
          "beginning with the start token")
      .required()
      .delimiter(',');
  add_common_options(command, options->common);
  command.footer(
      "Examples:\n"
      "  heed logits --model model --tokens 12,7,1\n"
      "  heed logits --model marian --source-tokens 12,7,1 --tokens 0,45,9");
  command.set_action([options] { return run_logits(*options); });
}

}  // namespace heed::cli
