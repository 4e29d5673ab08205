#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/options/command.h"
#include "cli/options/model_options.h"
#include "heed/base/error.h"
#include "heed/model.h"

namespace heed::cli {
namespace {

struct LogitsOptions {
  CommonOptions common;
  ModelOptions model;
  std::vector<int32_t> source_tokens, tokens;
};

int run_logits(const LogitsOptions& options) {
  const Threads threads(options.common);
  const Model model = load_model(options.model, threads);
  const bool both = model.has_encoder() && model.has_decoder();
  require(both != options.source_tokens.empty(), "{}",
          both ? "--source-tokens is missing: the model is an encoder-decoder"
               : "--source-tokens is for encoder-decoders, this model reads only --tokens");
  const Logits logits = model.logits(options.tokens, options.source_tokens);
  nlohmann::json rows = nlohmann::json::array();
  for (auto row = logits.values.begin(); row != logits.values.end(); row += logits.vocab_size)
    rows.push_back(std::vector<float>(row, row + logits.vocab_size));
  std::cout << nlohmann::json{{"shape", {logits.rows, logits.vocab_size}}, {"logits", rows}}
            << '\n';
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
  add_threads_option(command, options->common);
  command.footer(
      "Examples:\n"
      "  heed logits --model model --tokens 12,7,1\n"
      "  heed logits --model marian --source-tokens 12,7,1 --tokens 0,45,9");
  command.set_action([options] { return run_logits(*options); });
}

}  // namespace heed::cli
