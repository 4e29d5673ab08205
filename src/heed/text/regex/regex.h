#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heed::text {

/// A part of a text between two bytes.
struct TextSpan {
  size_t begin = 0, end = 0;
};

/// The regular expressions of tokenizer files, as Oniguruma reads them (which is what Python's
/// `tokenizers` uses): literals, classes with nesting and &&, \p{...}, groups, alternatives,
/// greedy, lazy and possessive repetition, (?i), atomic groups, lookaround; ^ and $
/// are the ends of lines. Captures only group; back-references are not supported.
///
/// Matching backtracks without recursion. Once it has backtracked more often than the text is long,
/// it remembers what it has tried, so that time is at most proportional to the text times the
/// pattern's size; only (?>...) around a group can take longer, and is refused when it does
/// (base/reader_limits.h). The usual engines overflow their stack or take quadratic time on a
/// megabyte of spaces.
class Regex {
 public:
  struct Program;

  /// Throws Error, beginning with `where`, on a pattern that is broken or uses anything else.
  Regex(std::string_view pattern, const std::string& where);
  /// Matches `text` itself.
  static Regex literal(std::string_view text);

  /// All matches from left to right. They do not overlap, and no empty match follows directly after
  /// another match. `text` is valid UTF-8. Throws Error when matching takes too long.
  std::vector<TextSpan> find_all(std::string_view text) const;
  /// The same without a list, which may need many times the memory of the text.
  void for_each_match(std::string_view text, const std::function<void(TextSpan)>& visit) const;

 private:
  explicit Regex(std::shared_ptr<const Program> program);
  template <typename Visit>
  void visit_matches(std::string_view text, Visit&& visit) const;

  std::shared_ptr<const Program> program_;
};

}  // namespace heed::text
