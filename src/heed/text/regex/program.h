#pragma once

#include <cstdint>
#include <vector>

#include "heed/text/regex/node.h"
#include "heed/text/regex/regex.h"

namespace heed::text {

/// One step of matching. After it comes the next in order, unless said otherwise.
struct Instruction {
  enum class Op : uint8_t {
    one,     // a code point of the set
    loop,    // `least` to `most` of them
    split,   // the next, and if that fails, `target`
    jump,    // to `target`
    place,   // nothing, where `place` holds
    back,    // `least` code points back
    look,    // to `target` if what follows, to its `accept`, matches here (or if it does not)
    atomic,  // what follows, to its `accept`, once; then `target` from where that ended
    accept,
  };
  static constexpr uint32_t kNoMemory = UINT32_MAX;

  Op op = Op::accept;
  Repetition repetition = Repetition::greedy;
  Place place = Place::line_begin;
  bool negated = false;
  uint32_t set = 0, target = 0, least = 0, most = 0;
  uint32_t memory = kNoMemory;  // where it is remembered that this has failed
};

/// What a regular expression is compiled to.
struct Regex::Program {
  std::vector<Instruction> code;
  std::vector<CharSet> sets;
  uint32_t memories = 0;
};

/// Searches one text.
class Matcher {
 public:
  Matcher(const Regex::Program& program, std::string_view text);

  std::vector<TextSpan> find_all();

 private:
  static constexpr size_t kNone = SIZE_MAX;
  /// What is tried when the rest fails: for a split its target at `position`, for a loop one code
  /// point less (down to `limit`) or, when lazy, one more (`limit` of them).
  struct Frame {
    uint32_t pc;
    size_t position, limit;
  };

  bool in_set(uint32_t set, size_t position, size_t& after) const;
  size_t back_one(size_t position) const;
  bool holds(Place place, size_t position) const;
  bool word_at(size_t position) const;

  /// Where the match ends that begins at `position` and instruction `pc`, or kNone.
  size_t match(uint32_t pc, size_t position);
  /// One step; false when it fails.
  bool step(uint32_t& pc, size_t& position);
  bool loop(uint32_t& pc, size_t& position);
  bool nested(uint32_t& pc, size_t& position);
  /// Takes up the newest alternative above `base`; false when there is none.
  bool resume(size_t base, uint32_t& pc, size_t& position);

  void count_work(size_t steps);
  bool has_failed(uint32_t memory, size_t position) const;
  void remember(uint32_t memory, size_t position);
  void forget(size_t position);

  const Regex::Program& program_;
  std::string_view text_;
  std::vector<Frame> frames_;
  size_t work_ = 0;
  int nesting_ = 0;
  std::vector<bool> failed_;  // [text + 1, memories], empty until work_ calls for it
};

}  // namespace heed::text
