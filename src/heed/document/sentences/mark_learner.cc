#include "heed/document/sentences/mark_learner.h"

#include "heed/document/sentences/sentence_break.h"

namespace heed::document {
namespace {

/// Rarer marks show nothing: one in so many lines.
constexpr int64_t kRarest = 200;

bool is_around_words(SentenceBreak kind) {
  using enum SentenceBreak;
  return kind == opening || kind == closing || kind == quote || kind == extend;
}

/// Behind quotes and brackets that begin at `position`.
size_t behind_quotes(const TextView& text, size_t position) {
  while (position < text.size() && is_around_words(text.break_at(position)))
    position = text.next(position);
  return position;
}

}  // namespace

void MarkLearner::read(std::string_view line) {
  const TextView text(line);
  const size_t begin = behind_quotes(text, text.skip_spaces(0, line.size()));
  const size_t end = text.trim_spaces(begin, line.size());
  if (begin >= end) return;
  ++lines_;
  if (text.break_at(begin) == SentenceBreak::lower) ++lines_with_small_letter_;
  for (size_t at = begin; at < end; at = text.next(at)) {
    const SentenceBreak kind = text.break_at(at);
    if (kind != SentenceBreak::comma && kind != SentenceBreak::terminator) continue;
    Counts& counts = marks_[text.at(at)];
    counts.terminator = kind == SentenceBreak::terminator;
    const size_t behind = behind_quotes(text, text.next(at));
    if (behind >= end) {
      ++counts.at_line_end;
    } else if (text.break_at(behind) == SentenceBreak::space) {
      const size_t next = behind_quotes(text, text.skip_spaces(behind, end));
      const bool small = next < end && text.break_at(next) == SentenceBreak::lower;
      ++(small ? counts.before_small_letter : counts.before_other);
    }
  }
}

std::u32string MarkLearner::ends_before_capital() const {
  std::u32string found;
  for (const auto& [mark, counts] : marks_)
    if (!counts.terminator && counts.at_line_end * kRarest >= lines_ &&
        counts.at_line_end >= counts.before_other)
      found += mark;
  return found;
}

std::u32string MarkLearner::inside_before_small_letter() const {
  std::u32string found;
  for (const auto& [mark, counts] : marks_) {
    if (!counts.terminator || counts.before_small_letter * kRarest < lines_) continue;
    // The next line begins with a small letter as often as any.
    const double at_line_end = static_cast<double>(counts.at_line_end) *
                               static_cast<double>(lines_with_small_letter_) /
                               static_cast<double>(lines_);
    if (static_cast<double>(counts.before_small_letter) > at_line_end) found += mark;
  }
  return found;
}

}  // namespace heed::document
