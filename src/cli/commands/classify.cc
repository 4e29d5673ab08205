#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/lines/line_processor.h"
#include "cli/lines/output.h"
#include "cli/options/command.h"
#include "cli/options/declared_options.h"
#include "cli/options/model_options.h"
#include "heed/model.h"
#include "heed/tasks/task_options.h"

namespace heed::cli {
namespace {

using tasks::ClassifyOption;
using Json = nlohmann::ordered_json;

struct ClassifyArguments {
  CommonOptions common;
  ModelOptions model;
  LineArguments lines;
  ClassifyOptions classify;
  std::optional<int64_t> top;
  bool json = false;
};

/// A line with a tab is a pair of texts.
ClassifyInput input_of(const std::string& line) {
  const size_t tab = line.find('\t');
  if (tab == std::string::npos) return line;
  return TextPair{line.substr(0, tab), line.substr(tab + 1)};
}

std::string line_of(const std::vector<LabelScore>& labels) {
  std::string line;
  for (const LabelScore& label : labels)
    line += fmt::format("{}{} {:.4f}", line.empty() ? "" : "\t", escape_line_ends(label.label),
                        label.score);
  return line + '\n';
}

std::string json_of(const std::vector<LabelScore>& labels) {
  Json list = Json::array();
  for (const auto& [label, score] : labels) list.push_back({{"label", label}, {"score", score}});
  return json_line({{"labels", list}});
}

/// Without the space that most tokenizers have before a word.
std::string without_space(const std::string& text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

std::string line_of(const LabelledText& text) {
  std::string line;
  for (const Entity& entity : text.entities)
    line += fmt::format("{}{} {:.4f} {}", line.empty() ? "" : "\t", escape_line_ends(entity.label),
                        entity.score, escape_line_ends(without_space(entity.text)));
  return line + '\n';
}

std::string json_of(const LabelledText& text) {
  Json list = Json::array();
  for (const Entity& entity : text.entities)
    list.push_back({{"label", entity.label},
                    {"score", entity.score},
                    {"text", entity.text},
                    {"start", entity.start},
                    {"end", entity.end},
                    {"first_token", entity.first_token},
                    {"end_token", entity.end_token}});
  return json_line({{"entities", list}});
}

void classify_texts(LineProcessor& processor, const Model& model,
                    const ClassifyArguments& arguments) {
  const auto most = static_cast<size_t>(
      arguments.top.value_or(arguments.json ? std::numeric_limits<int64_t>::max() : 1));
  const auto classify = [&](const std::vector<std::string>& lines, int64_t first) {
    std::vector<ClassifyInput> texts;
    for (const std::string& line : lines) texts.push_back(input_of(line));
    return model.classify_batch(texts, arguments.classify, first);
  };
  processor.answer(model, answer_in_batches(classify, [&](std::vector<LabelScore> labels, int64_t) {
                     labels.resize(std::min(labels.size(), most));
                     return arguments.json ? json_of(labels) : line_of(labels);
                   }));
}

void label_tokens(LineProcessor& processor, const Model& model,
                  const ClassifyArguments& arguments) {
  require(!arguments.top, "--top is for the labels of texts, and the model labels tokens");
  processor.answer(model, answer_in_batches(
                              [&](const std::vector<std::string>& lines, int64_t first) {
                                return model.label_tokens_batch(lines, arguments.classify, first);
                              },
                              [&](const LabelledText& text, int64_t) {
                                return arguments.json ? json_of(text) : line_of(text);
                              }));
}

int run_classify(const ClassifyArguments& arguments) {
  const Threads threads(arguments.common);
  LineProcessor processor = line_processor(arguments.lines);
  const Model model = processor.load([&] { return load_model(arguments.model, threads); });
  if (!model.classifies_tokens()) model.require_task(&ModelTasks::classify);  // no line is to blame
  if (model.classifies_tokens())
    label_tokens(processor, model, arguments);
  else
    classify_texts(processor, model, arguments);
  return 0;
}

}  // namespace

void add_classify(Command& program) {
  Command command = program.add_subcommand(
      "classify",
      "Labels each line of standard input, or with a model for token classification its entities");
  auto arguments = std::make_shared<ClassifyArguments>();
  add_model_options(command, arguments->model);
  command
      .add_option("--top", arguments->top,
                  "Labels printed per text, best first (default: 1, with --json all)")
      .range(int64_t{1}, kMaxTyped);
  add_declared_option(command, ClassifyOption::max_seq_length, arguments->classify);
  add_declared_option(command, ClassifyOption::batch_tokens, arguments->classify);
  command.add_flag("--json", arguments->json,
                   "Print one JSON object per line; start and end of an entity count characters");
  add_line_options(command, arguments->lines);
  add_threads_option(command, arguments->common);
  command.footer(
      "A line with a tab is a pair of texts, such as a premise and a hypothesis.\n\n"
      "Example:\n  echo 'What a lovely day.' | heed classify --model "
      "distilbert-base-uncased-finetuned-sst-2-english");
  command.set_action([arguments] { return run_classify(*arguments); }, Ranks::several);
}

}  // namespace heed::cli
