#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "heed/format/model_directory.h"

namespace heed::cli {
namespace {

struct LogitsOptions {
  CommonOptions common;
  std::string model;
  std::vector<int32_t> source_tokens, tokens;
};

int run_logits(const LogitsOptions& options) {
  apply(options.common);
  const auto model = format::load_model(options.model);
  const std::vector<int32_t> source_offsets{0, static_cast<int32_t>(options.source_tokens.size())};
  const std::vector<int32_t> offsets{0, static_cast<int32_t>(options.tokens.size())};
  Context context;
  const model::Memory memory = model->encode(context, {options.source_tokens, source_offsets});
  const Tensor logits =
      model->logits(context, model->decode_all(context, {options.tokens, offsets}, memory));
  nlohmann::json rows = nlohmann::json::array();
  for (int64_t row = 0; row < logits.rows(); ++row) {
    const float* values = logits.data<float>() + row * logits.cols();
    rows.push_back(std::vector<float>(values, values + logits.cols()));
  }
  std::cout << nlohmann::json{{"shape", {logits.rows(), logits.cols()}}, {"logits", rows}} << '\n';
  return 0;
}

}  // namespace

void add_logits(CLI::App& program) {
  auto* app = program.add_subcommand("logits", "Prints a model's logits for given tokens as JSON");
  auto options = std::make_shared<LogitsOptions>();
  app->add_option("--model", options->model, "Model directory")->required();
  app->add_option("--source-tokens", options->source_tokens, "What the encoder reads")
      ->required()
      ->delimiter(',');
  app->add_option("--tokens", options->tokens, "What the decoder reads, the start token first")
      ->required()
      ->delimiter(',');
  add_common_options(*app, options->common);
  app->footer("Example:\n  heed logits --model model --source-tokens 12,7,1 --tokens 0,45,9");
  set_action(*app, [options] { return run_logits(*options); });
}

}  // namespace heed::cli
