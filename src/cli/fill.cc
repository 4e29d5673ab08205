#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/answer_lines.h"
#include "cli/command.h"
#include "cli/escape_line_ends.h"
#include "cli/json_line.h"
#include "cli/model_options.h"
#include "heed/base/error.h"
#include "heed/generate/fill.h"
#include "heed/text/utf8.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

struct FillOptions {
  CommonOptions common;
  ModelOptions model;
  std::optional<std::string> text;
  int64_t top = 5;
  bool json = false;
};

/// Replaces [MASK] and <mask> by the tokenizer's mask token.
std::string with_masks(std::string text, const std::string& mask) {
  for (const std::string_view other : {"[MASK]", "<mask>"})
    for (size_t at = 0; other != mask && (at = text.find(other, at)) != std::string::npos;
         at += mask.size())
      text.replace(at, other.size(), mask);
  return text;
}

class Filler {
 public:
  Filler(const FillOptions& options, const model::Transformer& model)
      : options_(options), model_(model), tokenizer_(load_tokenizer(options.model, model)) {
    const auto mask = tokenizer_.special_tokens().mask;
    require(mask.has_value(), "{}: the tokenizer has no mask token", options.model.path);
    mask_ = *mask;
  }

  void fill(const std::string& text) const {
    const std::vector<int32_t> tokens =
        tokenizer_.encode(with_masks(text, tokenizer_.piece(mask_)));
    const auto filled = generate::fill_masks(model_, tokens, mask_, options_.top);
    if (options_.json) return print_json(filled);
    for (const generate::FilledMask& mask : filled) {
      if (&mask != &filled.front()) std::cout << '\n';
      for (const auto& [token, probability] : mask.best) {
        std::vector<int32_t> whole = tokens;
        whole[static_cast<size_t>(mask.position)] = token;
        std::cout << fmt::format("{:.4f}  {:<16} {}\n", probability, escape_line_ends(word(token)),
                                 escape_line_ends(tokenizer_.decode(whole)));
      }
    }
  }

 private:
  std::string word(int32_t token) const { return tokenizer_.decode(std::vector{token}, false); }

  void print_json(const std::vector<generate::FilledMask>& filled) const {
    Json masks = Json::array();
    for (const generate::FilledMask& mask : filled) {
      Json best = Json::array();
      for (const auto& [token, probability] : mask.best)
        best.push_back({{"token", token}, {"text", word(token)}, {"probability", probability}});
      masks.push_back({{"position", mask.position}, {"best", best}});
    }
    std::cout << json_line({{"masks", masks}});
  }

  const FillOptions& options_;
  const model::Transformer& model_;
  text::Tokenizer tokenizer_;
  int32_t mask_ = 0;
};

int run_fill(const FillOptions& options) {
  const Threads threads(options.common);
  if (options.text) text::require_utf8(*options.text, "the text");
  const auto model = load_model(options.model);
  generate::require_fills_masks(*model);
  const Filler filler(options, *model);
  if (options.text)
    filler.fill(*options.text);
  else
    for_each_line([&](const std::string& line, int64_t) { filler.fill(line); });
  return 0;
}

}  // namespace

void add_fill(Command& program) {
  Command command = program.add_subcommand("fill", "Predicts the masked tokens of a text");
  auto options = std::make_shared<FillOptions>();
  add_model_options(command, options->model, false);
  command.add_option("text", options->text,
                     "Text with [MASK] or <mask>; without it, each line of standard input");
  command.add_option("--top", options->top, "Candidates printed per mask")
      .range(int64_t{1}, int64_t{1} << 30)
      .show_default();
  command.add_flag("--json", options->json, "Print one JSON object per text");
  add_common_options(command, options->common);
  command.footer("Example:\n  heed fill --model bert 'Paris is the [MASK] of France.'");
  command.set_action([options] { return run_fill(*options); });
}

}  // namespace heed::cli
