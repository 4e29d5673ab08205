#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "heed/text/regex/memo_table.h"
#include "heed/text/regex/program.h"
#include "heed/text/step_check.h"
#include "heed/text/utf8.h"

namespace heed::text {

/// Searches one text, which is valid UTF-8, by backtracking. Once it has backtracked more often
/// than the text is long, it remembers what it has tried.
class Matcher {
 public:
  Matcher(const Regex::Program& program, std::string_view text);

  /// The next match, from left to right; none after the last. Throws Error when all of it takes
  /// more steps than base/reader_limits.h allows.
  std::optional<TextSpan> next();

 private:
  static constexpr size_t kNone = SIZE_MAX;
  /// An alternative to try when the rest fails. Of a split: its target, at `position`. Of a loop
  /// that went from `begin` to `position`: the same loop with one code point less.
  struct Frame {
    uint32_t pc;
    bool exhausted;  // no alternative is left; the frame only records the path
    size_t position, begin;
  };

  CodePoint point_at(size_t position) const;
  bool in_set(uint32_t set, size_t position, size_t& after) const;
  bool is_character(char32_t character, size_t position, size_t& after) const;
  size_t back_one(size_t position) const;
  bool holds(Anchor anchor, size_t position) const;
  bool word_at(size_t position) const;

  /// Where the match ends that begins at `position` and instruction `pc`, or kNone. After a match
  /// its frames are still there.
  size_t match(uint32_t pc, size_t position);
  /// One step; false when it fails.
  bool step(uint32_t& pc, size_t& position);
  /// Whether a choice is known to succeed, on to `accept`, or to fail; nothing if it is new.
  std::optional<bool> known_outcome(uint32_t memo, uint32_t& pc, size_t position);
  bool split(uint32_t& pc, size_t position);
  bool jump(uint32_t& pc, size_t position);
  bool loop(uint32_t& pc, size_t& position);
  /// An instruction that ends the program that is being run.
  uint32_t accept() const { return static_cast<uint32_t>(program_.code.size() - 1); }
  /// Leaves a loop: on to the next instruction, unless it is known to fail from here.
  bool leave_loop(uint32_t& pc, size_t position);
  bool nested(uint32_t& pc, size_t& position);
  /// Goes back to the newest alternative above `base`; false when there is none.
  bool resume(size_t base, uint32_t& pc, size_t& position);

  MemoTable::Outcome visit(uint32_t memo, size_t position) {
    return memo_table_.is_on() ? memo_table_.visit(memo, position) : MemoTable::Outcome::unknown;
  }
  /// Inside (?=...) and (?>...) exhausted frames stay on the stack, so that note_path() finds the
  /// whole path of a match there. Elsewhere they are dropped.
  bool keeps_path() const { return nesting_ > 0 && memo_table_.is_on(); }
  void note_path(size_t base, bool is_lookaround);
  void note_choice(uint32_t memo, size_t position, bool is_lookaround);
  void count_backtracking(size_t steps);
  void spend(size_t steps);

  const Regex::Program& program_;
  std::string_view text_;
  size_t begin_ = 0, last_end_ = kNone;  // of the search for the next match
  std::vector<Frame> frames_;
  MemoTable memo_table_;
  size_t backtracking_ = 0, steps_left_;
  StepCheck check_;
  int nesting_ = 0;
};

}  // namespace heed::text
