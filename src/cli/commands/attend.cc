#include <sys/ioctl.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "cli/lines/output.h"
#include "cli/options/command.h"
#include "cli/options/declared_options.h"
#include "cli/options/model_options.h"
#include "heed/attention_drawing.h"
#include "heed/base/display.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/output_file.h"
#include "heed/base/quote.h"
#include "heed/base/utf8.h"
#include "heed/engine/engine_options.h"
#include "heed/tasks/task_options.h"

namespace heed::cli {
namespace {

using tasks::AttentionOption;

struct AttendOptions {
  CommonOptions common;
  ModelOptions model;
  std::string source, out;
  AttentionDrawingOptions drawing;
  bool json = false;
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
  AttentionDrawingOptions drawing = options.drawing;
  drawing.model_name = model_name(options.model.path);
  drawing.columns = terminal_columns();
  drawing.color = isatty(STDOUT_FILENO) == 1;
  return drawing;
}

void print_terminal(const AttentionDrawing& drawn) {
  for (const std::string& text : {drawn.source_text, drawn.target_text})
    if (!text.empty()) std::cout << printable(text) << '\n';
  std::cout << '\n' << drawn.drawing;
}

/// `weights` [rows, columns] as lists.
nlohmann::ordered_json rows_of(std::span<const float> weights, size_t rows, size_t columns) {
  nlohmann::ordered_json lists = nlohmann::ordered_json::array();
  for (size_t row = 0; row < rows; ++row) {
    const auto part = weights.subspan(row * columns, columns);
    lists.push_back(std::vector<float>(part.begin(), part.end()));
  }
  return lists;
}

/// A line for each map; weights are [heads][queries][keys].
void print_json(const Model& model, const AttendOptions& options) {
  AttentionOptions attention = drawing_of(options).attention;
  for (const AttentionMap& map : model.attention(options.source, attention)) {
    const size_t queries = map.queries.size(), keys = map.keys.size();
    nlohmann::ordered_json line = {{"kind", name_of(map.kind)},
                                   {"layer", map.layer},
                                   {"first_head", map.first_head},
                                   {"queries", map.queries},
                                   {"keys", map.keys},
                                   {"weights", nlohmann::ordered_json::array()}};
    for (size_t head = 0; head < static_cast<size_t>(map.heads); ++head)
      line["weights"].push_back(rows_of(
          std::span(map.weights).subspan(head * queries * keys, queries * keys), queries, keys));
    std::cout << json_line(line);
  }
}

int run_attend(const AttendOptions& options) {
  const Threads threads(options.common);
  const Format format = format_of(options.out);
  if (options.drawing.heatmap && format != Format::svg)
    throw UsageError("--heatmap requires --out with a name that ends with .svg");
  require_utf8(options.source, "the source text");
  require_utf8(options.drawing.attention.target, "the target text");
  const Model model = load_model(options.model, threads);
  const AttentionDrawingOptions drawing = drawing_of(options);
  require_attention(model, drawing.attention);
  if (options.json) {
    print_json(model, options);
    return 0;
  }
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
  AttentionOptions& attention = options->drawing.attention;
  add_model_options(command, options->model);
  command
      .add_option("--source,--text", options->source,
                  "Input text; for an encoder-decoder the input of the encoder")
      .required();
  add_declared_option(command, AttentionOption::target, attention);
  add_language_options(command, attention.source_language, attention.target_language);
  Option out = command.add_option(
      "--out", options->out,
      "File to write: .html (an interactive page with all layers and heads) or .svg (a figure of "
      "one head); default: print one head to the terminal");
  add_declared_option(command, AttentionOption::kind, attention);
  add_declared_option(command, AttentionOption::layer, attention);
  add_declared_option(command, AttentionOption::head, attention);
  add_declared_option(command, engine::DrawingOption::heatmap, options->drawing).needs(out);
  command
      .add_flag("--json", options->json,
                "Print the weights, a JSON object for each layer of each kind, or of those chosen")
      .excludes(out);
  add_threads_option(command, options->common);
  command.footer(
      "Examples:\n"
      "  heed attend --model model --source 'And God said, Let there be light.' --out page.html\n"
      "  heed attend --model model --source 'And God said' --kind encoder_self --layer 0 --head 1\n"
      "  heed attend --model gpt2 --text 'The cat sat on the mat because it was tired'");
  command.set_action([options] { return run_attend(*options); });
}

}  // namespace heed::cli
