#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/export.h"

namespace heed {

/// A term of a text and how it must be translated. It is found where it stands as a whole word, or
/// as several; of terms that overlap, the one that begins first, and of these the longest.
struct GlossaryTerm {
  std::string source;  // the term in a text to translate
  /// Each time that `source` occurs in a line, the translation of the line has one of these.
  std::vector<std::string> targets;
  /// Whether `source` is found only as it is written here. Otherwise upper and lower case do not
  /// count, and where it begins with a capital letter in the line a target may, too.
  bool match_case = false;

  bool operator==(const GlossaryTerm&) const = default;
};

/// The largest number of targets of a term.
inline constexpr int64_t kMaxTermTargets = 32;

/// Reads a glossary, one term per line: the source, a tab, its targets with " | " between them and
/// perhaps a tab and "match_case". Empty lines and those that begin with "#" are left out. Throws
/// InputError, which has the line and the `name` of the text ("terms.tsv: line 3: ..."), on
/// anything else and on invalid UTF-8.
HEED_EXPORT std::vector<GlossaryTerm> parse_glossary(std::string_view text,
                                                     const std::string& name = "glossary");

/// Tokens of a source beside each other, counted from 0.
struct TokenRange {
  int64_t begin = 0;  // of the first one
  int64_t end = 0;    // behind the last one

  bool operator==(const TokenRange&) const = default;
};

/// What a translation must contain, as whole words: one of `alternatives` for each place. It is
/// written where the model attends to one of the places, or at the end.
struct RequiredText {
  std::vector<std::string> alternatives;  // each in the form in which it is written
  std::vector<TokenRange> places;         // in Model::source_tokens() of the line

  bool operator==(const RequiredText&) const = default;
};

}  // namespace heed
