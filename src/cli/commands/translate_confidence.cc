#include "cli/commands/translate_confidence.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/options/declared_options.h"
#include "cli/terminal/warnings.h"
#include "heed/base/file.h"
#include "heed/generate/generate_options.h"

namespace heed::cli {

void add_confidence_options(Command& command, ConfidenceArguments& arguments,
                            TranslateOptions& options) {
  const OptionGroup group(command, "Confidence");
  add_declared_option(command, generate::TranslateOption::confidence, options);
  command
      .add_option("--min-confidence", arguments.min_confidence,
                  "Mark what a person should read: words below this confidence in [[ ]], and [?] "
                  "before a translation below it")
      .range(0.0, 1.0);
  command.add_option("--review", arguments.review,
                     "Also write an HTML page for who reads the translations, with words below "
                     "--min-confidence underlined (default: 0.5)");
}

void add_confidence(const ConfidenceArguments& arguments, const Candidate& translation,
                    nlohmann::ordered_json& json) {
  if (!translation.confidence) return;
  json["confidence"] = *translation.confidence;
  const std::optional<double> least = arguments.min_confidence;
  if (least) json["review"] = should_be_read(translation, *least);
  json["words"] = nlohmann::json::array();
  for (const auto& [text, confidence] : translation.words) {
    json["words"].push_back({{"text", text}, {"confidence", confidence}});
    if (least) json["words"].back()["review"] = confidence < *least;
  }
}

std::string marked_text(const ConfidenceArguments& arguments, const Candidate& translation) {
  if (!arguments.min_confidence) return translation.text;
  std::string text = should_be_read(translation, *arguments.min_confidence) ? "[?] " : "";
  size_t at = 0;  // in the translation
  for (const auto& [word, confidence] : translation.words) {
    const size_t begin = translation.text.find(word, at);
    text += translation.text.substr(at, begin - at);
    const bool doubtful = confidence < *arguments.min_confidence;
    text += doubtful ? fmt::format("[[{}]]", word) : word;
    at = begin + word.size();
  }
  return text + translation.text.substr(at);
}

void Review::add(int64_t number, const std::string& source, const Translation& translation) {
  if (!arguments_.any() || translation.candidates.empty()) return;
  const Candidate& best = translation.candidates.front();
  const double least = arguments_.threshold();
  ++count_;
  marked_words_ += std::ranges::count_if(
      best.words, [&](const WordConfidence& word) { return word.confidence < least; });
  if (should_be_read(best, least)) {
    constexpr int64_t kMostNamed = 10;
    if (to_read_ < kMostNamed) named_ += fmt::format("{}{}", to_read_ > 0 ? ", " : "", number);
    if (to_read_ == kMostNamed) named_ += ", ...";
    ++to_read_;
  }
  if (!arguments_.review.empty()) translations_.push_back({number, source, best});
}

void Review::finish(const char* what) const {
  if (!arguments_.any()) return;
  if (!arguments_.review.empty())
    write_file_atomically(arguments_.review,
                          confidence_page(translations_, arguments_.threshold()));
  print_message(fmt::format("{} of {} {}s should be read{}; {} words have a confidence below {}",
                            to_read_, count_, what,
                            to_read_ > 0 ? fmt::format(" ({}s {})", what, named_) : "",
                            marked_words_, arguments_.threshold()));
}

}  // namespace heed::cli
