#include "heed/text/regex/matcher.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/reader_limits.h"
#include "heed/text/unicode/tables.h"
#include "heed/text/utf8.h"

namespace heed::text {

using Op = Instruction::Op;
using Outcome = MemoTable::Outcome;

Matcher::Matcher(const Regex::Program& program, std::string_view text)
    : program_(program),
      text_(text),
      steps_left_(limits::kMaxMatchSteps + limits::kMaxMatchStepsPerByte * text.size()) {}

std::optional<TextSpan> Matcher::next() {
  while (begin_ <= text_.size()) {
    const size_t begin = begin_, end = match(0, begin);
    frames_.clear();
    if (end == kNone || (end == begin && begin == last_end_)) {
      begin_ += begin < text_.size() ? code_point_at(text_, begin).length : 1;
      continue;
    }
    // The choices that led to the match count as failed. Those before its end are not tried again;
    // those at its end are.
    if (memo_table_.is_on())
      for (const uint32_t memo : program_.outer_memos) memo_table_.forget(memo, end);
    begin_ = last_end_ = end;
    return TextSpan{begin, end};
  }
  return std::nullopt;
}

size_t Matcher::match(uint32_t pc, size_t position) {
  const size_t base = frames_.size();
  size_t steps = 0;
  while (program_.code[pc].op != Op::accept) {
    ++steps;
    if (step(pc, position)) continue;
    spend(std::exchange(steps, 0));
    if (!resume(base, pc, position)) return kNone;
  }
  spend(steps);
  return position;
}

bool Matcher::step(uint32_t& pc, size_t& position) {
  const Instruction& now = program_.code[pc];
  switch (now.op) {
    case Op::character:
      ++pc;
      return is_character(now.character, position, position);
    case Op::one:
      ++pc;
      return in_set(now.set, position, position);
    case Op::loop:
      return loop(pc, position);
    case Op::split:
      return split(pc, position);
    case Op::jump:
      return jump(pc, position);
    case Op::anchor:
      ++pc;
      return holds(now.anchor, position);
    case Op::back:
      for (uint32_t i = 0; i < now.min; ++i) {
        if (position == 0) return false;
        position = back_one(position);
      }
      ++pc;
      return true;
    case Op::lookaround:
    case Op::atomic:
      return nested(pc, position);
    case Op::accept:
      break;
  }
  return true;
}

std::optional<bool> Matcher::known_outcome(uint32_t memo, uint32_t& pc, size_t position) {
  if (memo == Instruction::kNoMemo) return std::nullopt;
  const Outcome outcome = visit(memo, position);
  if (outcome == Outcome::unknown) return std::nullopt;
  if (outcome == Outcome::succeeded) pc = accept();
  return outcome == Outcome::succeeded;
}

bool Matcher::split(uint32_t& pc, size_t position) {
  if (const auto known = known_outcome(program_.code[pc].memo, pc, position)) return *known;
  frames_.push_back({pc, false, position, position});
  ++pc;
  return true;
}

bool Matcher::jump(uint32_t& pc, size_t position) {
  const Instruction& now = program_.code[pc];
  if (memo_table_.is_on() && now.memo != Instruction::kNoMemo) {
    if (const auto known = known_outcome(now.memo, pc, position)) return *known;
    if (keeps_path()) frames_.push_back({pc, true, position, position});
  }
  pc = now.target;
  return true;
}

bool Matcher::loop(uint32_t& pc, size_t& position) {
  const Instruction& now = program_.code[pc];
  const bool possessive = now.repetition == Repetition::possessive;
  const bool endless = now.max == RegexNode::kNoLimit;
  for (uint32_t i = 0; i < now.min; ++i)
    if (!in_set(now.set, position, position)) return false;
  if (now.min == now.max) {
    spend(now.min);
    ++pc;
    return true;
  }
  const size_t begin = position;
  Outcome outcome = visit(now.memo, begin);
  if (outcome == Outcome::failed) return false;
  size_t count = now.min, before = begin;
  while (outcome == Outcome::unknown && count < now.max) {
    before = position;
    if (!in_set(now.set, position, position)) break;
    ++count;
    // Having come this far is the same state as entering the loop here.
    if (endless) outcome = visit(now.memo, position);
  }
  spend(count);
  count_backtracking(count - now.min);
  if (outcome == Outcome::succeeded) {
    if (keeps_path()) frames_.push_back({pc, true, position, begin});
    pc = accept();
    return true;
  }
  if (outcome == Outcome::failed) {
    // Leaving the loop here or later has been tried.
    if (possessive) return false;
    position = before;
  }
  const bool has_choice = !possessive && position > begin;
  if (has_choice || keeps_path()) frames_.push_back({pc, !has_choice, position, begin});
  return leave_loop(pc, position);
}

bool Matcher::leave_loop(uint32_t& pc, size_t position) {
  const uint32_t memo = program_.code[pc].exit_memo;
  ++pc;
  return known_outcome(memo, pc, position).value_or(true);
}

bool Matcher::nested(uint32_t& pc, size_t& position) {
  const Instruction& now = program_.code[pc];
  const bool is_lookaround = now.op == Op::lookaround;
  const size_t base = frames_.size();
  ++nesting_;
  const size_t end = match(pc + 1, position);
  // Matching again from the next position may take as many steps as the path has.
  if (end != kNone) count_backtracking(frames_.size() - base);
  if (end != kNone && memo_table_.is_on()) note_path(base, is_lookaround);
  --nesting_;
  frames_.resize(base);
  pc = now.target;
  if (is_lookaround) return (end == kNone) == now.negated;
  position = end;
  return end != kNone;
}

/// Called when a nested program has matched. From any choice on its path it would match again. For
/// a lookaround that is all that matters. For (?>...) the end matters too, and is not remembered.
void Matcher::note_path(size_t base, bool is_lookaround) {
  for (size_t i = base; i < frames_.size(); ++i) {
    const Frame& frame = frames_[i];
    const Instruction& passed = program_.code[frame.pc];
    if (passed.op != Op::loop) {
      note_choice(passed.memo, frame.position, is_lookaround);
      continue;
    }
    note_choice(passed.exit_memo, frame.position, is_lookaround);
    note_choice(passed.memo, frame.begin, is_lookaround);
    if (passed.max != RegexNode::kNoLimit) continue;
    for (size_t at = frame.position; at > frame.begin; at = back_one(at))
      note_choice(passed.memo, at, is_lookaround);
  }
}

void Matcher::note_choice(uint32_t memo, size_t position, bool is_lookaround) {
  if (memo == Instruction::kNoMemo) return;
  if (is_lookaround)
    memo_table_.succeed(memo, position);
  else
    memo_table_.forget(memo, position);
}

bool Matcher::resume(size_t base, uint32_t& pc, size_t& position) {
  while (frames_.size() > base) {
    count_backtracking(1);
    Frame& frame = frames_.back();
    if (frame.exhausted) {
      frames_.pop_back();
      continue;
    }
    pc = frame.pc;
    const bool is_loop = program_.code[pc].op == Op::loop;
    if (is_loop) frame.position = back_one(frame.position);
    position = frame.position;
    frame.exhausted = position == frame.begin;
    if (frame.exhausted && !keeps_path()) frames_.pop_back();
    if (!is_loop) {
      pc = program_.code[pc].target;
      return true;
    }
    if (leave_loop(pc, position)) return true;
  }
  return false;
}

CodePoint Matcher::point_at(size_t position) const {
  const auto byte = static_cast<uint8_t>(text_[position]);
  return byte < 0x80 ? CodePoint{byte, 1, true} : code_point_at(text_, position);
}

bool Matcher::in_set(uint32_t set, size_t position, size_t& after) const {
  if (position >= text_.size()) return false;
  const CodePoint point = point_at(position);
  if (!program_.sets[set].contains(point.value)) return false;
  after = position + point.length;
  return true;
}

bool Matcher::is_character(char32_t character, size_t position, size_t& after) const {
  if (position >= text_.size()) return false;
  const CodePoint point = point_at(position);
  if (point.value != character) return false;
  after = position + point.length;
  return true;
}

size_t Matcher::back_one(size_t position) const { return code_point_begin(text_, position - 1); }

bool Matcher::word_at(size_t position) const {
  static const CharSet words(CodePointRanges::from_table(tables::regex_word));
  return words.contains(code_point_at(text_, position).value);
}

bool Matcher::holds(Anchor anchor, size_t position) const {
  const bool begin = position == 0, end = position == text_.size();
  switch (anchor) {
    case Anchor::text_begin:
      return begin;
    case Anchor::text_end:
      return end;
    case Anchor::text_end_or_last_newline:
      return end || (position + 1 == text_.size() && text_[position] == '\n');
    case Anchor::line_begin:
      return begin || (text_[position - 1] == '\n' && !end);
    case Anchor::line_end:
      return end || text_[position] == '\n';
    case Anchor::word_boundary:
    case Anchor::no_word_boundary:
      break;
  }
  const bool before = !begin && word_at(back_one(position)), after = !end && word_at(position);
  return (before != after) == (anchor == Anchor::word_boundary);
}

void Matcher::count_backtracking(size_t steps) {
  constexpr size_t kFewSteps = 1000;
  spend(steps);
  backtracking_ += steps;
  if (!memo_table_.is_on() && backtracking_ > kFewSteps + 8 * text_.size())
    memo_table_.start(text_.size() + 1, program_.memos);
}

void Matcher::spend(size_t steps) {
  if (steps > steps_left_)
    fail_input(
        "a regular expression of the tokenizer takes more than {} steps for each of {} bytes",
        limits::kMaxMatchStepsPerByte, text_.size());
  steps_left_ -= steps;
  check_.steps(steps);
}

}  // namespace heed::text
