#include <sys/ioctl.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "cli/options/command.h"
#include "cli/options/model_options.h"
#include "heed/attention_drawing.h"
#include "heed/base/display.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/names.h"
#include "heed/base/output_file.h"
#include "heed/base/quote.h"
#include "heed/base/utf8.h"

namespace heed::cli {
namespace {

struct AttendOptions {
  CommonOptions common;
  ModelOptions model;
  std::string source, target, source_language, target_language, out, kind;
  int layer = 0, head = 0;  // counted from 1; 0: the last layer, the mean of all heads
  bool heatmap = false;
};

int terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 100;
}

enum class Format { terminal, svg, page };

Format format_of(const std::string& out) {
  if (out.empty()) return Format::terminal;
  const std::string extension = std::filesystem::path(out).extension().string();
  require(extension == ".html" || extension == ".svg",
          "--out is {}, expected a name that ends with .html or .svg", quoted(out));
  require_output_file("--out", out);
  return extension == ".svg" ? Format::svg : Format::page;
}

std::string model_name(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().filename().string();
}

AttentionDrawingOptions drawing_of(const AttendOptions& options) {
  using enum AttentionKind;
  AttentionDrawingOptions drawing{.attention = {.target = options.target,
                                                .source_language = options.source_language,
                                                .target_language = options.target_language},
                                  .model_name = model_name(options.model.path),
                                  .heatmap = options.heatmap,
                                  .columns = terminal_columns(),
                                  .color = isatty(STDOUT_FILENO) == 1};
  if (!options.kind.empty())
    drawing.attention.kind = named(options.kind, std::vector{encoder_self, decoder_self, cross});
  if (options.layer > 0) drawing.attention.layer = options.layer - 1;
  if (options.head > 0) drawing.attention.head = options.head - 1;
  return drawing;
}

void print_terminal(const AttentionDrawing& drawn) {
  for (const std::string& text : {drawn.source_text, drawn.target_text})
    if (!text.empty()) std::cout << printable(text) << '\n';
  std::cout << '\n' << drawn.drawing;
}

int run_attend(const AttendOptions& options) {
  const Threads threads(options.common);
  const Format format = format_of(options.out);
  if (options.heatmap && format != Format::svg)
    throw UsageError("--heatmap requires --out with a name that ends with .svg");
  require_utf8(options.source, "the source text");
  require_utf8(options.target, "the target text");
  const Model model = load_model(options.model, threads);
  const AttentionDrawingOptions drawing = drawing_of(options);
  require_attention(model, drawing.attention);
  if (format == Format::terminal) {
    print_terminal(attention_text(model, options.source, drawing));
    return 0;
  }
  const AttentionDrawing drawn =
      (format == Format::svg ? attention_svg : attention_page)(model, options.source, drawing);
  write_file_atomically(options.out, drawn.drawing);
  const std::string& read = drawn.target_text.empty() ? drawn.source_text : drawn.target_text;
  std::cerr << "attention of \"" << printable(read) << "\" written to " << printable(options.out)
            << '\n';
  return 0;
}

}  // namespace

void add_attend(Command& program) {
  Command command = program.add_subcommand(
      "attend", "Shows which tokens attend to which, as text, figure or web page");
  auto options = std::make_shared<AttendOptions>();
  add_model_options(command, options->model, false);
  command
      .add_option("--source,--text", options->source,
                  "Input text; for an encoder-decoder the input of the encoder")
      .required();
  command.add_option("--target", options->target,
                     "Input of the decoder of an encoder-decoder (default: its greedy output)");
  add_language_options(command, options->source_language, options->target_language);
  Option out = command.add_option(
      "--out", options->out,
      "File to write: .html (an interactive page with all layers and heads) or .svg (a figure of "
      "one head); default: print one head to the terminal");
  command
      .add_option(
          "--kind", options->kind,
          "Kind of attention for figure and terminal (default: cross for an encoder-decoder)")
      .one_of({"encoder_self", "decoder_self", "cross"});
  command
      .add_option("--layer", options->layer,
                  "Layer for figure and terminal, counted from 1 (default: the last)")
      .positive();
  command
      .add_option("--head", options->head,
                  "Head for figure and terminal, counted from 1 (default: the mean of all heads)")
      .positive();
  command.add_flag("--heatmap", options->heatmap, "Draw the .svg as a heatmap instead of lines")
      .needs(out);
  add_common_options(command, options->common);
  command.footer(
      "Examples:\n"
      "  heed attend --model model --source 'And God said, Let there be light.' --out page.html\n"
      "  heed attend --model model --source 'And God said' --kind encoder_self --layer 1 --head 2\n"
      "  heed attend --model gpt2 --text 'The cat sat on the mat because it was tired'");
  command.set_action([options] { return run_attend(*options); });
}

}  // namespace heed::cli
