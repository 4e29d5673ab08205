#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/lines/line_processor.h"
#include "cli/lines/output.h"
#include "cli/options/command.h"
#include "cli/options/model_options.h"
#include "heed/base/declared_option.h"
#include "heed/base/utf8.h"
#include "heed/model.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

struct FillArguments {
  CommonOptions common;
  ModelOptions model;
  LineArguments lines;
  std::optional<std::string> text;
  int64_t top = 5;
  bool json = false;
};

std::string json_of_filled(const Model& model, const FilledText& filled) {
  Json masks = Json::array();
  for (const FilledMask& mask : filled.masks) {
    Json best = Json::array();
    for (const auto& [token, probability] : mask.best)
      best.push_back(
          {{"token", token}, {"text", model.token_text(token)}, {"probability", probability}});
    masks.push_back({{"position", mask.position}, {"best", best}});
  }
  return json_line({{"masks", masks}});
}

std::string text_of(const Model& model, const FilledText& filled) {
  std::string lines;
  for (const FilledMask& mask : filled.masks) {
    if (&mask != &filled.masks.front()) lines += '\n';
    for (const auto& [token, probability] : mask.best) {
      std::vector<int32_t> whole = filled.tokens;
      whole[static_cast<size_t>(mask.position)] = token;
      lines +=
          fmt::format("{:.4f}  {:<16} {}\n", probability, escape_line_ends(model.token_text(token)),
                      escape_line_ends(model.detokenize(whole)));
    }
  }
  return lines;
}

int run_fill(const FillArguments& arguments) {
  const Threads threads(arguments.common);
  if (arguments.text) {
    require_one_rank("heed fill with a text");
    require_utf8(*arguments.text, "the text");
  }
  LineProcessor processor = line_processor(arguments.lines);
  const Model model =
      processor.load([&] { return load_model(arguments.model, threads, &ModelTasks::fill); });
  const auto fill = [&](const std::string& text) {
    const FilledText filled = model.fill(text, arguments.top);
    return arguments.json ? json_of_filled(model, filled) : text_of(model, filled);
  };
  if (arguments.text)
    std::cout << fill(*arguments.text);
  else
    processor.answer(
        model, answer_one_by_one([&](const std::string& line, int64_t) { return fill(line); }));
  return 0;
}

}  // namespace

void add_fill(Command& program) {
  Command command = program.add_subcommand("fill", "Predicts the masked tokens of a text");
  auto arguments = std::make_shared<FillArguments>();
  add_model_options(command, arguments->model, false);  // the text is given by position
  command.add_option("text", arguments->text,
                     "Text with [MASK] or <mask>; without it, each line of standard input");
  command.add_option("--top", arguments->top, "Candidates printed per mask")
      .range(int64_t{1}, kMaxTyped)
      .show_default();
  command.add_flag("--json", arguments->json, "Print one JSON object per text");
  add_line_options(command, arguments->lines);
  add_threads_option(command, arguments->common);
  command.footer("Example:\n  heed fill --model bert 'Paris is the [MASK] of France.'");
  command.set_action([arguments] { return run_fill(*arguments); }, Ranks::several);
}

}  // namespace heed::cli
