#include <sys/ioctl.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/model_options.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/names.h"
#include "heed/inspect/attention_page.h"
#include "heed/inspect/attention_svg.h"
#include "heed/inspect/attention_terminal.h"
#include "heed/inspect/capture.h"
#include "heed/text/utf8.h"

namespace heed::cli {
namespace {

using inspect::AttentionKind;

struct AttendOptions {
  CommonOptions common;
  ModelOptions model;
  std::string source, target, out, kind;
  int layer = 0, head = 0;  // from 1; 0: the last layer, the mean of the heads
  bool heatmap = false;
};

int terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 100;
}

/// What --kind, --layer and --head choose.
struct Choice {
  AttentionKind kind;
  int layer;
  std::optional<int> head;
};

/// Cross-attention tells most; a stack alone has only its own.
AttentionKind default_kind(const inspect::AttentionCapture& capture) {
  AttentionKind kind = capture.maps.front().kind;
  for (const inspect::AttentionMap& map : capture.maps)
    if (map.kind == AttentionKind::cross) kind = map.kind;
  return kind;
}

Choice choice_of(const AttendOptions& options, const inspect::AttentionCapture& capture) {
  using enum AttentionKind;
  const AttentionKind kind =
      options.kind.empty() ? default_kind(capture)
                           : named(options.kind, std::vector{encoder_self, decoder_self, cross});
  int last = 0;
  for (const inspect::AttentionMap& map : capture.maps)
    if (map.kind == kind) last = std::max(last, map.layer);
  return {kind, options.layer > 0 ? options.layer - 1 : last,
          options.head > 0 ? std::optional(options.head - 1) : std::nullopt};
}

inspect::AttentionCapture read_by(const model::Transformer& model, const AttendOptions& options) {
  if (text::TranslationTokenizer::exists(options.model.path))
    return inspect::capture_attention(model, text::TranslationTokenizer::load(options.model.path),
                                      options.source, options.target);
  return inspect::capture_attention(model, load_tokenizer(options.model, model), options.source,
                                    options.target);
}

int run_attend(const AttendOptions& options) {
  apply(options.common);
  text::require_utf8(options.source, "the source text");
  text::require_utf8(options.target, "the target text");
  const auto model = load_model(options.model);
  inspect::AttentionCapture capture = read_by(*model, options);
  capture.model_name =
      std::filesystem::absolute(options.model.path).lexically_normal().filename().string();
  const Choice choice = choice_of(options, capture);
  if (options.out.empty()) {
    for (const std::string& text : {capture.source_text, capture.target_text})
      if (!text.empty()) std::cout << text << '\n';
    std::cout << '\n'
              << inspect::attention_terminal(capture, choice.kind, choice.layer, choice.head,
                                             terminal_columns(), isatty(STDOUT_FILENO) == 1);
    return 0;
  }
  const std::string extension = std::filesystem::path(options.out).extension().string();
  require(extension == ".html" || extension == ".svg",
          "--out is {}, expected a name that ends with .html or .svg", options.out);
  using inspect::AttentionFigure;
  write_file_atomically(
      options.out, extension == ".html"
                       ? inspect::attention_page(capture)
                       : inspect::attention_svg(
                             capture, choice.kind, choice.layer, choice.head,
                             options.heatmap ? AttentionFigure::heatmap : AttentionFigure::lines));
  const std::string& read = capture.target_text.empty() ? capture.source_text : capture.target_text;
  std::cerr << "attention of \"" << read << "\" in " << options.out << '\n';
  return 0;
}

}  // namespace

void add_attend(CLI::App& program) {
  auto* app = program.add_subcommand("attend", "Shows which token attended to which");
  auto options = std::make_shared<AttendOptions>();
  add_model_options(*app, options->model, false);
  app->add_option("--source,--text", options->source,
                  "What the model reads (of an encoder-decoder: its encoder)")
      ->required();
  app->add_option("--target", options->target,
                  "What the decoder of an encoder-decoder is led through (default: the model's own "
                  "output)");
  app->add_option(
      "--out", options->out,
      "page.html (interactive: all layers and heads) or figure.svg; none: the terminal");
  app->add_option("--kind", options->kind,
                  "What the figure or the terminal shows (default: cross where there is such)")
      ->check(CLI::IsMember({"encoder_self", "decoder_self", "cross"}));
  app->add_option("--layer", options->layer, "Layer, from 1 (default: the last)")
      ->check(CLI::PositiveNumber);
  app->add_option("--head", options->head, "Head, from 1 (default: the mean of all)")
      ->check(CLI::PositiveNumber);
  app->add_flag("--heatmap", options->heatmap, "A heatmap instead of lines in the SVG");
  add_common_options(*app, options->common);
  app->footer(
      "Example:\n"
      "  heed attend --model model --source 'And God said, Let there be light.' --out page.html\n"
      "  heed attend --model model --source 'And God said' --kind encoder_self --layer 1 --head 2\n"
      "  heed attend --model gpt2 --text 'The cat sat on the mat because it was tired'");
  set_action(*app, [options] { return run_attend(*options); });
}

}  // namespace heed::cli
