#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/answer_lines.h"
#include "cli/command.h"
#include "cli/escape_line_ends.h"
#include "cli/json_line.h"
#include "cli/model_options.h"
#include "heed/engine/loaded_model.h"
#include "heed/generate/fill.h"
#include "heed/model.h"
#include "heed/text/utf8.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

struct FillArguments {
  CommonOptions common;
  ModelOptions model;
  std::optional<std::string> text;
  int64_t top = 5;
  bool json = false;
};

void print_filled_json(const Model& model, const FilledText& filled) {
  Json masks = Json::array();
  for (const FilledMask& mask : filled.masks) {
    Json best = Json::array();
    for (const auto& [token, probability] : mask.best)
      best.push_back(
          {{"token", token}, {"text", model.token_text(token)}, {"probability", probability}});
    masks.push_back({{"position", mask.position}, {"best", best}});
  }
  std::cout << json_line({{"masks", masks}});
}

void print_filled_text(const Model& model, const FilledText& filled) {
  for (const FilledMask& mask : filled.masks) {
    if (&mask != &filled.masks.front()) std::cout << '\n';
    for (const auto& [token, probability] : mask.best) {
      std::vector<int32_t> whole = filled.tokens;
      whole[static_cast<size_t>(mask.position)] = token;
      std::cout << fmt::format("{:.4f}  {:<16} {}\n", probability,
                               escape_line_ends(model.token_text(token)),
                               escape_line_ends(model.detokenize(whole)));
    }
  }
}

int run_fill(const FillArguments& arguments) {
  const Threads threads(arguments.common);
  if (arguments.text) text::require_utf8(*arguments.text, "the text");
  const Model model = load_model(arguments.model, threads);
  generate::require_fills_masks(*engine::loaded(model).transformer);  // no line is to blame
  const auto fill = [&](const std::string& text) {
    const FilledText filled = model.fill(text, arguments.top);
    (arguments.json ? print_filled_json : print_filled_text)(model, filled);
  };
  if (arguments.text)
    fill(*arguments.text);
  else
    for_each_line([&](const std::string& line, int64_t) { fill(line); });
  return 0;
}

}  // namespace

void add_fill(Command& program) {
  Command command = program.add_subcommand("fill", "Predicts the masked tokens of a text");
  auto arguments = std::make_shared<FillArguments>();
  add_model_options(command, arguments->model, false);
  command.add_option("text", arguments->text,
                     "Text with [MASK] or <mask>; without it, each line of standard input");
  command.add_option("--top", arguments->top, "Candidates printed per mask")
      .range(int64_t{1}, int64_t{1} << 30)
      .show_default();
  command.add_flag("--json", arguments->json, "Print one JSON object per text");
  add_common_options(command, arguments->common);
  command.footer("Example:\n  heed fill --model bert 'Paris is the [MASK] of France.'");
  command.set_action([arguments] { return run_fill(*arguments); });
}

}  // namespace heed::cli
