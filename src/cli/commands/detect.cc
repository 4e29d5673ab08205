#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/lines/output.h"
#include "cli/lines/standard_input.h"
#include "cli/options/command.h"
#include "cli/terminal/status_line.h"
#include "heed/base/declared_option.h"
#include "heed/base/display.h"
#include "heed/base/error.h"
#include "heed/base/output_file.h"
#include "heed/language.h"

namespace heed::cli {
namespace {

/// ISO 639-2's code of a text in no language that can be told.
constexpr const char* kUndetermined = "und";

struct DetectArguments {
  std::string file, languages, identifier, out;
  std::vector<std::string> train;
  std::optional<int64_t> top;
  TrainLanguageOptions training;
  bool json = false, list = false;
};

std::string line_of(const std::vector<DetectedLanguage>& detected) {
  if (detected.empty()) return fmt::format("{} 0.0000\n", kUndetermined);
  std::string line;
  for (const DetectedLanguage& language : detected)
    line +=
        fmt::format("{}{} {:.4f}", line.empty() ? "" : "\t", language.code, language.probability);
  return line + '\n';
}

std::string json_of(const std::vector<DetectedLanguage>& detected) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const DetectedLanguage& language : detected)
    list.push_back({{"language", language.code}, {"probability", language.probability}});
  return json_line({{"languages", list}});
}

/// The codes of --languages.
std::vector<std::string> codes_of(const std::string& list) {
  std::vector<std::string> codes;
  std::istringstream parts(list);
  for (std::string code; std::getline(parts, code, ',');) codes.push_back(code);
  return codes;
}

int run_training(const DetectArguments& arguments) {
  require_output_file("--out", arguments.out);
  StatusLine status;
  const auto progress = [&](int64_t examples, double loss) {
    status.show(
        fmt::format("{} of {} examples, loss {:.4f}", examples, arguments.training.examples, loss));
  };
  const std::vector<std::filesystem::path> files(arguments.train.begin(), arguments.train.end());
  const LanguageIdentifier trained = LanguageIdentifier::train(files, arguments.training, progress);
  trained.save(arguments.out);
  status.clear();
  std::cerr << "an identifier of " << trained.languages().size() << " languages written to "
            << printable(arguments.out) << '\n';
  return 0;
}

int run_detect(const DetectArguments& arguments) {
  if (!arguments.train.empty()) return run_training(arguments);
  const LanguageIdentifier identifier = arguments.identifier.empty()
                                            ? LanguageIdentifier::built_in()
                                            : LanguageIdentifier::load(arguments.identifier);
  if (arguments.list) {
    for (const std::string& language : identifier.languages()) std::cout << language << '\n';
    return 0;
  }
  const std::vector<std::string> among = codes_of(arguments.languages);
  identifier.detect("", among);  // no line is to blame for what --languages names
  const bool interactive = arguments.file.empty();
  if (!interactive) {
    read_as_standard_input(arguments.file);
    std::cin.tie(nullptr);  // or each line would flush the answers
  }
  const auto most = static_cast<size_t>(arguments.top.value_or(arguments.json ? kMaxTyped : 1));
  TextLines lines;
  for (std::string line; lines.next(line);) {
    std::vector<DetectedLanguage> detected = identifier.detect(line, among);
    detected.resize(std::min(detected.size(), most));
    std::cout << (arguments.json ? json_of(detected) : line_of(detected));
    if (interactive) flush_output();
  }
  return 0;
}

}  // namespace

void add_detect(Command& program) {
  Command command =
      program.add_subcommand("detect", "Tells the language of each line of standard input");
  auto arguments = std::make_shared<DetectArguments>();
  command.add_option("file", arguments->file, "File to read instead of standard input");
  command
      .add_option("--languages", arguments->languages,
                  "Languages that come into question (default: all), with commas between them")
      .not_empty();
  command
      .add_option("--top", arguments->top,
                  "Languages printed per line, most probable first (default: 1, with --json all)")
      .range(int64_t{1}, kMaxTyped);
  command.add_flag("--json", arguments->json, "Print one JSON object per line");
  command.add_flag("--list", arguments->list, "Print the languages that can be told, and end");
  command.add_option("--identifier", arguments->identifier,
                     "File of --train to use instead of heed's own identifier");
  Option train =
      command.add_option("--train", arguments->train,
                         "Learn from text files instead, one of each language (de.txt fr.txt ...)");
  train.needs(command.add_option("--out", arguments->out, "With --train: the file to write"));
  command.option("--out").needs(train);
  command
      .add_option("--examples", arguments->training.examples,
                  "With --train: parts of texts that are shown")
      .range(int64_t{1}, kMaxTyped)
      .needs(train)
      .show_default();
  command.add_option("--seed", arguments->training.seed, "With --train: seed of the random numbers")
      .needs(train)
      .show_default();
  for (const char* other : {"--languages", "--top", "--json", "--list", "--identifier"})
    train.excludes(command.option(other));
  command.footer(
      "A line prints as a code of ISO 639-1 and its probability; \"und 0.0000\" stands for a line\n"
      "without letters or in a script that heed does not know.\n\n"
      "Examples:\n"
      "  echo 'Wie geht es dir?' | heed detect\n"
      "  heed detect --languages en,de,fr --json < in.txt\n"
      "  heed detect --train texts/*.txt --out own.bin\n"
      "  heed detect --identifier own.bin < in.txt");
  command.set_action([arguments] { return run_detect(*arguments); });
}

}  // namespace heed::cli
