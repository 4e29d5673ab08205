#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/command.h"
#include "heed/confidence.h"
#include "heed/translation.h"

namespace heed::cli {

/// Options of `heed translate` for who reads its translations.
struct ConfidenceArguments {
  std::optional<double> min_confidence;
  std::string review;  // a file

  /// Below which words and translations are marked on the page.
  double threshold() const { return min_confidence.value_or(0.5); }
  bool any() const { return min_confidence || !review.empty(); }
};

/// Adds --confidence, --min-confidence and --review.
void add_confidence_options(Command& command, ConfidenceArguments& arguments,
                            TranslateOptions& options);

/// Adds "confidence" and "words" to the JSON of a translation that has them, and "review" with
/// --min-confidence.
void add_confidence(const ConfidenceArguments& arguments, const Candidate& translation,
                    nlohmann::ordered_json& json);

/// The text of a translation; with --min-confidence, words below it in [[ ]] and "[?] " before a
/// text that should be read.
std::string marked_text(const ConfidenceArguments& arguments, const Candidate& translation);

/// Translations that are read before they are used: counts those that should be, and writes the
/// page of --review.
class Review {
 public:
  explicit Review(const ConfidenceArguments& arguments) : arguments_(arguments) {}

  void add(int64_t number, const std::string& source, const Translation& translation);
  /// Writes the page, and prints what should be read; `what` is "line" or "sentence".
  void finish(const char* what) const;

 private:
  const ConfidenceArguments& arguments_;
  int64_t count_ = 0, to_read_ = 0, marked_words_ = 0;
  std::string named_;
  std::vector<TranslationToReview> translations_;
};

}  // namespace heed::cli
