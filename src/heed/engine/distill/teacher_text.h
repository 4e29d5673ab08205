#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "heed/distill.h"
#include "heed/model.h"

namespace heed::engine {

/// The teacher's translation of a line.
struct TaughtLine {
  std::string source, target;
  double score = 0;       // SearchOptions' of the translation
  std::string alignment;  // of words: "0-0 1-2"
};

/// Translates the lines that OUT/translations.txt does not have yet, a few hundred at a time.
/// Returns false if the callbacks stop it. Throws Error as AnswerOutput does.
bool translate_text(const Model& teacher, const std::vector<std::string>& lines,
                    const std::filesystem::path& file, const DistillOptions& options,
                    const DistillCallbacks& callbacks);

/// The lines with their translations, without those that have none. Throws Error, which names the
/// line, unless the file has a translation for each line.
std::vector<TaughtLine> read_translations(const std::filesystem::path& file,
                                          const std::vector<std::string>& lines);

/// The number of lines that were dropped, by the first reason that holds.
struct TaughtFilterReport {
  int64_t kept = 0, repeated = 0, unbalanced = 0, improbable = 0;
  /// "950 of 1000 translations kept; dropped: 2 repeated, 8 by length ratio, 40 improbable".
  std::string text() const;
};

/// Drops lines that occur before, pairs with more than `max_ratio` times as many words on one side
/// as on the other (two more words are allowed), and of the rest the share `drop` with the least
/// score per word.
TaughtFilterReport filter_taught(std::vector<TaughtLine>& lines, double max_ratio, double drop);

}  // namespace heed::engine
