#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/text/regex/node.h"
#include "heed/text/regex/regex.h"

namespace heed::text {

/// One step of matching. The next one follows it in the program, unless said otherwise.
///
/// `memo` and `exit_memo` number the choices whose outcome at each position is remembered
/// (MemoTable): every instruction that several paths through the program reach, so that no path
/// is tried twice.
struct Instruction {
  enum class Op : uint8_t {
    character,   // the code point `character`
    one,         // a code point of the set
    loop,        // `min` to `max` code points of the set, greedy or possessive
    split,       // the next instruction; if that fails, the one at `target`
    jump,        // to `target`
    anchor,      // the empty text, if `anchor` holds
    back,        // `min` code points back
    lookaround,  // to `target` if what follows matches here, up to its `accept` (negated: if not)
    atomic,      // what follows, up to its `accept`, once; then `target` from where that ended
    accept,
  };
  static constexpr uint32_t kNoMemo = UINT32_MAX;

  Op op = Op::accept;
  Repetition repetition = Repetition::greedy;
  Anchor anchor = Anchor::line_begin;
  bool negated = false;
  char32_t character = 0;
  uint32_t set = 0, target = 0, min = 0, max = 0;
  /// split, jump: this instruction; loop: having `min` code points (and, without a limit, any
  /// number from there on).
  uint32_t memo = kNoMemo;
  /// loop with a limit: leaving it.
  uint32_t exit_memo = kNoMemo;
};

/// A compiled regular expression.
struct Regex::Program {
  std::vector<Instruction> code;  // the last is `accept`
  std::vector<CharSet> sets;
  uint32_t memos = 0;
  /// The memos of instructions outside (?=...) and (?>...).
  std::vector<uint32_t> outer_memos;
  /// Not empty: the pattern is this text, and there is no code.
  std::string literal;
};

/// Throws Error, beginning with `where`, when the program would exceed the limits of
/// base/reader_limits.h.
void compile_regex(const RegexTree& tree, const std::string& where, Regex::Program& program);

}  // namespace heed::text
