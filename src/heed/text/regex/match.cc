#include <algorithm>

#include "heed/text/regex/program.h"
#include "heed/text/unicode/tables.h"
#include "heed/text/utf8.h"

namespace heed::text {

using Op = Instruction::Op;

Matcher::Matcher(const Regex::Program& program, std::string_view text)
    : program_(program), text_(text) {}

std::vector<TextSpan> Matcher::find_all() {
  std::vector<TextSpan> matches;
  size_t begin = 0, last_end = kNone;
  while (begin <= text_.size()) {
    const size_t end = match(0, begin);
    if (end == kNone || (end == begin && begin == last_end)) {
      begin += begin < text_.size() ? code_point_at(text_, begin).length : 1;
      continue;
    }
    matches.push_back({begin, end});
    // What led to a match is no failure. It all happened up to here.
    forget(end);
    begin = last_end = end;
  }
  return matches;
}

size_t Matcher::match(uint32_t pc, size_t position) {
  const size_t base = frames_.size();
  while (program_.code[pc].op != Op::accept) {
    if (step(pc, position)) continue;
    if (!resume(base, pc, position)) return kNone;
  }
  frames_.resize(base);
  return position;
}

bool Matcher::step(uint32_t& pc, size_t& position) {
  const Instruction& now = program_.code[pc];
  switch (now.op) {
    case Op::one:
      ++pc;
      return in_set(now.set, position, position);
    case Op::loop:
      return loop(pc, position);
    case Op::split:
      if (has_failed(now.memory, position)) return false;
      remember(now.memory, position);
      frames_.push_back({pc, position, 0});
      ++pc;
      return true;
    case Op::jump:
      pc = now.target;
      return true;
    case Op::place:
      ++pc;
      return holds(now.place, position);
    case Op::back:
      for (uint32_t i = 0; i < now.least; ++i) {
        if (position == 0) return false;
        position = back_one(position);
      }
      ++pc;
      return true;
    case Op::look:
    case Op::atomic:
      return nested(pc, position);
    case Op::accept:
      break;
  }
  return true;
}

bool Matcher::loop(uint32_t& pc, size_t& position) {
  const Instruction& now = program_.code[pc];
  const bool lazy = now.repetition == Repetition::lazy;
  const bool possessive = now.repetition == Repetition::possessive;
  if (has_failed(now.memory, position)) return false;
  size_t lowest = position;
  uint32_t count = 0, most = lazy ? now.least : now.most;
  for (; count < most; ++count) {
    // What has failed from here on, in the middle of a run, need not be tried from its beginning.
    const bool known = count > 0 && has_failed(now.memory, position);
    if (known && !possessive) most = std::min(most, count + std::max(now.least, 1u) - 1);
    // Should all of it fail, then so will what begins within: its ends are among these.
    remember(now.memory, position);
    if (count == now.least) lowest = position;
    if (count >= most || !in_set(now.set, position, position)) break;
    if (known && possessive && now.least <= 1) return false;
  }
  count_work(count);
  if (count < now.least) return false;
  if (count == now.least) lowest = position;
  if (lazy)
    frames_.push_back({pc, position, now.most - count});
  else if (!possessive && position > lowest)
    frames_.push_back({pc, position, lowest});
  ++pc;
  return true;
}

bool Matcher::nested(uint32_t& pc, size_t& position) {
  const Instruction& now = program_.code[pc];
  ++nesting_;
  const size_t end = match(pc + 1, position);
  --nesting_;
  pc = now.target;
  if (now.op == Op::look) return (end == kNone) == now.negated;
  position = end;
  return end != kNone;
}

bool Matcher::resume(size_t base, uint32_t& pc, size_t& position) {
  while (frames_.size() > base) {
    count_work(1);
    Frame& frame = frames_.back();
    const Instruction& then = program_.code[frame.pc];
    pc = frame.pc + 1;
    if (then.op == Op::split) {
      pc = then.target;
      position = frame.position;
      frames_.pop_back();
      return true;
    }
    if (then.repetition == Repetition::lazy) {
      if (frame.limit > 0 && in_set(then.set, frame.position, frame.position)) {
        --frame.limit;
        position = frame.position;
        return true;
      }
      frames_.pop_back();
      continue;
    }
    position = frame.position = back_one(frame.position);
    if (position == frame.limit) frames_.pop_back();
    return true;
  }
  return false;
}

bool Matcher::in_set(uint32_t set, size_t position, size_t& after) const {
  if (position >= text_.size()) return false;
  const auto byte = static_cast<uint8_t>(text_[position]);
  const CodePoint point = byte < 0x80 ? CodePoint{byte, 1, true} : code_point_at(text_, position);
  if (!program_.sets[set].contains(point.value)) return false;
  after = position + point.length;
  return true;
}

size_t Matcher::back_one(size_t position) const {
  do --position;
  while (position > 0 && (static_cast<uint8_t>(text_[position]) & 0xC0) == 0x80);
  return position;
}

bool Matcher::word_at(size_t position) const {
  static const CharSet words(CodePointRanges::from_table(tables::regex_word));
  return words.contains(code_point_at(text_, position).value);
}

bool Matcher::holds(Place place, size_t position) const {
  const bool begin = position == 0, end = position == text_.size();
  switch (place) {
    case Place::text_begin:
      return begin;
    case Place::text_end:
      return end;
    case Place::text_end_or_last_newline:
      return end || (position + 1 == text_.size() && text_[position] == '\n');
    case Place::line_begin:
      return begin || (text_[position - 1] == '\n' && !end);
    case Place::line_end:
      return end || text_[position] == '\n';
    case Place::word_edge:
    case Place::no_word_edge:
      break;
  }
  const bool before = !begin && word_at(back_one(position)), after = !end && word_at(position);
  return (before != after) == (place == Place::word_edge);
}

void Matcher::count_work(size_t steps) {
  constexpr size_t kUnremarkable = 1000;
  work_ += steps;
  if (failed_.empty() && work_ > kUnremarkable + 8 * text_.size())
    failed_.resize((text_.size() + 1) * program_.memories);
}

bool Matcher::has_failed(uint32_t memory, size_t position) const {
  return !failed_.empty() && nesting_ == 0 && memory != Instruction::kNoMemory &&
         failed_[position * program_.memories + memory];
}

void Matcher::remember(uint32_t memory, size_t position) {
  // Within (?=...) and (?>...) what succeeds leaves untried alternatives behind: no failures.
  if (failed_.empty() || nesting_ > 0 || memory == Instruction::kNoMemory) return;
  failed_[position * program_.memories + memory] = true;
}

void Matcher::forget(size_t position) {
  for (uint32_t memory = 0; memory < program_.memories && !failed_.empty(); ++memory)
    failed_[position * program_.memories + memory] = false;
}

}  // namespace heed::text
