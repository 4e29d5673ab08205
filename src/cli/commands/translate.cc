#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/cut_translations.h"
#include "cli/commands/translate_confidence.h"
#include "cli/commands/translate_document.h"
#include "cli/lines/line_processor.h"
#include "cli/lines/output.h"
#include "cli/lines/standard_input.h"
#include "cli/options/command.h"
#include "cli/options/declared_options.h"
#include "cli/options/model_options.h"
#include "cli/terminal/warnings.h"
#include "heed/base/file.h"
#include "heed/generate/generate_options.h"
#include "heed/model.h"

namespace heed::cli {
namespace {

using generate::SearchOption, generate::TranslateOption;

struct TranslateArguments {
  CommonOptions common;
  ModelOptions model;
  std::string then;  // the model of a second step
  LineArguments lines;
  TranslateOptions translate;
  std::string glossary_file;
  bool scores = false, json = false;
  ConfidenceArguments confidence;
  bool prints_confidence = false;  // the options of translations compute it for marks, too
  DocumentArguments document;
};

/// Lines that are far longer than what the model was trained on, which it translates badly.
class LongLines {
 public:
  explicit LongLines(int64_t trained_tokens) : trained_tokens_(trained_tokens) {}

  void add(const Translation& line, int64_t number) {
    constexpr int64_t kFar = 2;
    const auto tokens = static_cast<int64_t>(line.source.size());
    if (trained_tokens_ == 0 || tokens <= kFar * trained_tokens_) return;
    if (count_++ == 0) first_ = fmt::format("line {} has {} tokens", number, tokens);
  }

  void warn() const {
    if (count_ == 0) return;
    print_message(fmt::format(
        "warning: {}{}, and the model was trained on at most {}: --document translates lines "
        "sentence by sentence",
        first_, count_ > 1 ? fmt::format(", and {} more are long", count_ - 1) : "",
        trained_tokens_));
  }

 private:
  int64_t trained_tokens_, count_ = 0;
  std::string first_;
};

std::string json_of(const TranslateArguments& arguments, int64_t number, const Translation& line) {
  nlohmann::ordered_json out = {{"line", number - 1}, {"translations", nlohmann::json::array()}};
  if (!line.pivot.empty()) out["pivot"] = line.pivot;
  for (const Candidate& candidate : line.candidates) {
    const Hypothesis& hypothesis = candidate.hypothesis;
    nlohmann::ordered_json entry = {{"text", candidate.text},
                                    {"score", hypothesis.score},
                                    {"log_probability", hypothesis.log_probability},
                                    {"complete", hypothesis.complete}};
    if (arguments.translate.alignments) entry["alignment"] = pharaoh(candidate.alignment);
    add_confidence(arguments.confidence, candidate, entry);
    out["translations"].push_back(entry);
  }
  return json_line(out);
}

/// Plain text, one line per translation. With n-best lists, scores, alignments or confidence: the
/// columns of Moses, number ||| text ||| score ||| alignment ||| confidence.
std::string text_of(const TranslateArguments& arguments, int64_t number, const Translation& line) {
  const TranslateOptions& options = arguments.translate;
  const bool columns = options.search.n_best > 1 || arguments.scores || options.alignments ||
                       arguments.prints_confidence;
  if (line.candidates.empty()) return "\n";
  std::string lines;
  for (const Candidate& candidate : line.candidates) {
    if (columns) lines += fmt::format("{} ||| ", number - 1);
    lines += marked_text(arguments.confidence, candidate);
    if (columns) lines += fmt::format(" ||| {:.6f}", candidate.hypothesis.score);
    if (options.alignments) lines += " ||| " + pharaoh(candidate.alignment);
    if (arguments.prints_confidence) lines += fmt::format(" ||| {:.4f}", *candidate.confidence);
    lines += '\n';
  }
  return lines;
}

/// The model, and that of the second step as an option.
Model load_models(TranslateArguments& arguments, const Threads& threads) {
  Model model = load_model(arguments.model, threads, &ModelTasks::translate);
  if (arguments.then.empty()) return model;
  ModelOptions second = arguments.model;
  second.path = arguments.then;
  second.adapters.clear();
  arguments.translate.then =
      std::make_shared<const Model>(load_model(second, threads, &ModelTasks::translate));
  return model;
}

int run_translate_document(TranslateArguments& arguments, const Threads& threads) {
  require_one_rank("heed translate --document");
  require(arguments.translate.search.n_best == 1,
          "--document has one translation, but --nbest is {}", arguments.translate.search.n_best);
  require(arguments.lines.resume.empty(), "--resume continues lines, and --document has none");
  require(
      !arguments.prints_confidence,
      "--confidence is printed beside lines, and --document prints a document: --review writes a "
      "page with it, --min-confidence counts sentences below it");
  if (!arguments.lines.input.empty()) read_as_standard_input(arguments.lines.input);
  DocumentOptions& options = arguments.document.options;
  check(arguments.translate.search);
  const Model model = load_models(arguments, threads);
  options.translate = arguments.translate;
  Review review(arguments.confidence);
  translate_document(model, options, review);
  return 0;
}

void read_glossary(TranslateArguments& arguments) {
  const std::string& file = arguments.glossary_file;
  if (file.empty()) return;
  arguments.translate.glossary = parse_glossary(read_file(file), file);
}

int run_translate(TranslateArguments& arguments) {
  const Threads threads(arguments.common);
  read_glossary(arguments);
  arguments.prints_confidence = arguments.translate.confidence;
  arguments.translate.confidence |= arguments.confidence.any();
  if (!arguments.confidence.review.empty()) require_one_rank("heed translate --review");
  if (arguments.document.document) return run_translate_document(arguments, threads);
  TranslateOptions& options = arguments.translate;
  options.search.scores = arguments.scores || arguments.json || options.alignments;
  check(options.search);
  LineProcessor processor = line_processor(arguments.lines);
  const Model model = processor.load([&] { return load_models(arguments, threads); });
  if (options.confidence) model.translate_batch({}, options);  // whether it is calibrated
  CutTranslations cut;
  LongLines too_long(model.trained_source_tokens());
  Review review(arguments.confidence);
  NumberedLines batch;
  processor.answer(
      model, answer_in_batches(
                 [&](const std::vector<std::string>& lines, int64_t first) {
                   batch = {first, lines};
                   return model.translate_batch(lines, options, first);
                 },
                 [&](const Translation& line, int64_t number) {
                   cut.add(line, number);
                   too_long.add(line, number);
                   review.add(number, batch.lines[static_cast<size_t>(number - batch.first)], line);
                   return arguments.json ? json_of(arguments, number, line)
                                         : text_of(arguments, number, line);
                 }));
  review.finish("line");
  too_long.warn();
  cut.warn("lines",
           "--document translates sentence by sentence, --max-new-tokens raises the limit");
  return 0;
}

}  // namespace

void add_translate(Command& program) {
  Command command = program.add_subcommand("translate", "Translates standard input, line by line");
  auto arguments = std::make_shared<TranslateArguments>();
  SearchOptions& search = arguments->translate.search;
  add_model_options(command, arguments->model);
  add_shortlist_option(command, arguments->model);
  add_language_options(command, arguments->translate.source_language,
                       arguments->translate.target_language);
  add_declared_option(command, TranslateOption::via, arguments->translate);
  command
      .add_option("--then", arguments->then,
                  "A second model, which translates what the first one has translated")
      .names_model();
  add_declared_option(command, SearchOption::num_beams, search).show_default();
  command.add_renamed("--beam", "--num-beams");
  add_declared_option(command, SearchOption::n_best, search, "--nbest")
      .description("Translations printed per line, best first")
      .show_default();
  add_declared_option(command, SearchOption::length_penalty, search).show_default();
  Option limit = add_declared_option(command, SearchOption::max_new_tokens, search);
  add_declared_option(command, SearchOption::max_new_tokens_over_source, search)
      .excludes(limit)
      .show_default();
  command.add_renamed("--extra-length", "--max-new-tokens-over-source");
  add_declared_option(command, TranslateOption::batch_tokens, arguments->translate).positive();
  add_declared_value(command, TranslateOption::glossary, arguments->glossary_file);
  add_declared_option(command, TranslateOption::do_not_translate, arguments->translate);
  const Option scores =
      command.add_flag("--scores", arguments->scores, "Print columns: line ||| text ||| score");
  const Option alignments =
      add_declared_option(command, TranslateOption::alignments, arguments->translate);
  const Option json = command.add_flag("--json", arguments->json, "Print one JSON object per line");
  add_confidence_options(command, arguments->confidence, arguments->translate);
  Option document = add_document_options(command, arguments->document);
  for (const Option& of_lines : {scores, alignments, json}) document.excludes(of_lines);
  add_line_options(command, arguments->lines);
  add_threads_option(command, arguments->common);
  command.footer(
      "Examples:\n"
      "  echo 'And God said, Let there be light.' | heed translate --model model\n"
      "  heed translate --model model --num-beams 8 --nbest 3 --alignments < in.txt\n"
      "  heed translate --model model --compute int8 < in.txt\n"
      "  heed translate --model model --min-confidence 0.5 --review review.html < in.txt\n"
      "  heed translate --model model --document --format html < page.html > translated.html\n"
      "  heed translate --model model --glossary terms.tsv --do-not-translate ACME < in.txt\n"
      "  heed translate --model nllb --source-language eng_Latn --target-language fra_Latn < "
      "in.txt\n"
      "  heed translate opus-mt-de-en --then opus-mt-en-fr < in.txt\n"
      "  heed translate nllb --source-language ayr_Latn --via en --target-language isl_Latn < "
      "in.txt");
  command.set_action([arguments] { return run_translate(*arguments); }, Ranks::several);
}

}  // namespace heed::cli
