#include "cli/commands/translate_document.h"

#include <chrono>

#include "cli/commands/cut_translations.h"
#include "cli/commands/translate_confidence.h"
#include "cli/lines/output.h"
#include "cli/lines/standard_input.h"
#include "cli/options/declared_options.h"
#include "cli/terminal/status_line.h"
#include "cli/terminal/warnings.h"
#include "heed/base/duration.h"
#include "heed/base/quote.h"
#include "heed/generate/generate_options.h"
#include "heed/model.h"

namespace heed::cli {
namespace {

/// "[====>   ] 512/2000 sentences, 12 s left" on a terminal.
class DocumentProgress {
 public:
  void show(int64_t done, int64_t all) {
    if (!line_.on_terminal()) return;
    if (done == all) return line_.clear();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    if (!line_.is_due(passed.count())) return;
    const double left = passed.count() * static_cast<double>(all - done) /
                        static_cast<double>(std::max<int64_t>(done, 1));
    line_.show(fmt::format("{}{}/{} sentences{}", progress_bar(done, all), done, all,
                           done > 0 ? fmt::format(", {} left", duration_text(left)) : ""));
  }

 private:
  StatusLine line_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Option add_document_options(Command& command, DocumentArguments& arguments) {
  using generate::DocumentOption;
  const OptionGroup group(command, "Documents");
  const Option document = command.add_flag(
      "--document", arguments.document,
      "Translate standard input as a document: its lines are paragraphs, which are split into "
      "sentences");
  DocumentOptions& options = arguments.options;
  DocumentOption::for_each(
      [&](const auto& option) { add_declared_option(command, option, options).needs(document); });
  return document;
}

void translate_document(const Model& model, const DocumentOptions& options, Review& review) {
  const std::string& language = options.sentence_language;
  if (!language.empty() && !knows_abbreviations(language))
    print_message(
        fmt::format("warning: heed has no list of abbreviations for the language {}: "
                    "sentences are split by punctuation alone",
                    quoted(language)));
  DocumentProgress progress;
  const DocumentTranslation translated = model.translate_document(
      read_standard_input(), options, [&](int64_t done, int64_t all) { progress.show(done, all); });
  std::cout << translated.text;
  flush_output();
  int64_t number = 0;
  CutTranslations cut;
  for (const DocumentSentence& sentence : translated.sentences) {
    review.add(++number, sentence.source, sentence.translation);
    cut.add(sentence.translation, number);
  }
  review.finish("sentence");
  cut.warn("sentences", "--max-new-tokens raises the limit");
}

}  // namespace heed::cli
