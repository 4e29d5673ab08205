// TrainConfig::validate(): the checks of [data].
#include "heed/train/config/data_check.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "heed/base/quote.h"
#include "heed/language.h"

namespace heed::train {
namespace {

/// Throws Error unless the task reads what is named.
void check_kinds(const DataConfig& data, TaskKind task) {
  const bool pairs = reads_pairs(task);
  for (const auto& [name, given, is_of_pairs] :
       {std::tuple{"source", !data.source.empty(), true},
        {"target", !data.target.empty(), true},
        {"tsv", !data.tsv.empty(), true},
        {"alignments", !data.alignments.empty(), true},
        {"corpora", !data.corpora.empty(), true},
        {"valid_source", !data.valid_source.empty(), true},
        {"valid_target", !data.valid_target.empty(), true},
        {"valid_corpora", !data.valid_corpora.empty(), true},
        {"text", !data.text.empty(), false},
        {"valid_text", !data.valid_text.empty(), false}})
    require(!given || is_of_pairs == pairs, "data.{} is for {}, the task is {}, which reads {}",
            name, is_of_pairs ? "pairs" : "language models", name_of(task),
            pairs ? "data.source and data.target, data.tsv or data.corpora" : "data.text");
}

void check_corpora(const char* name, const std::vector<data::Corpus>& corpora) {
  for (const data::Corpus& corpus : corpora) {
    const bool two = !corpus.source.empty() || !corpus.target.empty();
    require(two ? corpus.tsv.empty() && !corpus.source.empty() && !corpus.target.empty()
                : !corpus.tsv.empty(),
            "a corpus of {} has {}, expected source and target, or tsv", name,
            !two                    ? "no files"
            : !corpus.tsv.empty()   ? "tsv and source or target"
            : corpus.source.empty() ? "no source"
                                    : "no target");
  }
}

void check_alignments(const TrainConfig& config) {
  const DataConfig& data = config.data;
  require(data.alignments.empty() || data.corpora.empty(),
          "data.alignments and data.corpora are both given: name the alignments of each corpus in "
          "data.corpora");
  for (const data::Corpus& corpus : data.valid_corpora)
    require(corpus.alignments.empty(),
            "a corpus of data.valid_corpora has alignments: those of training are learned");
  require(!has_alignments(data) || config.run.task == TaskKind::translation,
          "data.alignments are for the task translation, the task is {}", name_of(config.run.task));
}

void check_shares(const DataConfig& data) {
  const auto weighted = std::ranges::count_if(
      data.corpora, [](const data::Corpus& corpus) { return corpus.weight > 0; });
  require(weighted == 0 || weighted == std::ssize(data.corpora),
          "{} of the {} corpora of data.corpora have a weight, expected all or none", weighted,
          data.corpora.size());
  require(std::isfinite(data.temperature) && data.temperature > 0,
          "data.temperature is {}, expected a number above 0", data.temperature);
  require(data.temperature == 1 || !data.corpora.empty(),
          "data.temperature is {}, and there are no data.corpora to draw from", data.temperature);
  require(data.temperature == 1 || weighted == 0,
          "data.temperature is {}, and the corpora have weights: expected one of them",
          data.temperature);
  for (const data::Corpus& corpus : data.valid_corpora)
    require(corpus.weight == 0, "a corpus of data.valid_corpora has a weight: all are read");
}

/// A code becomes a part of a token.
void check_code(const std::string& code, const char* side, const data::Corpus& corpus) {
  const std::string& file = !corpus.tsv.empty() ? corpus.tsv : corpus.source;
  require(!code.empty(), "{}: the {} language is not given (data.languages asks for it)", file,
          side);
  require(std::ranges::none_of(
              code,
              [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '<' || c == '>'; }),
          "{}: the {} language is {}, expected a code without spaces, < and >", file, side,
          quoted(code));
}

void check_languages(const TrainConfig& config) {
  const DataConfig& data = config.data;
  if (data.languages == LanguageTags::none) return;
  require(config.run.task == TaskKind::translation,
          "data.languages is {}, which is for the task translation", name_of(data.languages));
  for (const auto& corpora : {training_corpora(data), validation_corpora(data)})
    for (const data::Corpus& corpus : corpora) {
      const text::LanguagePair languages = languages_of(corpus);
      check_code(languages.target, "target", corpus);
      if (data.languages == LanguageTags::both) check_code(languages.source, "source", corpus);
    }
}

void check_filters(const TrainConfig& config) {
  const DataConfig& data = config.data;
  const double least = data.text_limits.min_language_probability;
  require(least >= 0 && least <= 1, "data.min_language_probability is {}, expected 0 to 1", least);
  require(data.drop_least_aligned >= 0 && data.drop_least_aligned < 1,
          "data.drop_least_aligned is {}, expected at least 0 and below 1",
          data.drop_least_aligned);
  require(reads_pairs(config.run.task) || (!data.text_limits.any() && data.drop_least_aligned == 0),
          "data.drop_copied, drop_duplicates, drop_mojibake, drop_least_aligned and "
          "min_language_probability are for pairs, the task is {}",
          name_of(config.run.task));
  if (least == 0) return;
  const std::vector<std::string>& known = LanguageIdentifier::built_in().languages();
  for (const data::Corpus& corpus : training_corpora(data)) {
    const text::LanguagePair languages = identified_languages(corpus);
    for (const std::string& code : {languages.source, languages.target})
      require(std::ranges::find(known, code) != known.end(),
              "data.min_language_probability is {}, and heed cannot tell the language {} of {}",
              least, quoted(code), corpus.tsv.empty() ? corpus.source : corpus.tsv);
  }
}

}  // namespace

void check_data(const TrainConfig& config) {
  const DataConfig& data = config.data;
  check_kinds(data, config.run.task);
  const bool two = !data.source.empty() || !data.target.empty();
  require(data.tsv.empty() || !two,
          "data.tsv and data.source/data.target are both given, expected one of them");
  require(data.corpora.empty() || (!two && data.tsv.empty()),
          "data.corpora and data.{} are both given, expected one of them", two ? "source" : "tsv");
  require(data.valid_source.empty() == data.valid_target.empty(),
          "only one of data.valid_source and data.valid_target is given, expected both");
  require(data.valid_corpora.empty() || data.valid_source.empty(),
          "data.valid_corpora and data.valid_source are both given, expected one of them");
  check_corpora("data.corpora", data.corpora);
  check_corpora("data.valid_corpora", data.valid_corpora);
  check_alignments(config);
  check_shares(data);
  if (reads_pairs(config.run.task)) check_languages(config);
  check_filters(config);
  check_count("data.held_out", data.held_out, 1);
  check_count("data.max_tokens", data.max_tokens, 1);
  check_at_least("data.max_ratio", data.max_ratio, 1);
}

}  // namespace heed::train
