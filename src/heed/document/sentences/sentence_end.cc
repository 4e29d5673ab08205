#include "heed/document/sentences/sentence_end.h"

#include <algorithm>

namespace heed::document {
namespace {

constexpr char32_t kEllipsis = 0x2026;

bool is_letter(SentenceBreak kind) {
  return kind == SentenceBreak::lower || kind == SentenceBreak::upper ||
         kind == SentenceBreak::letter;
}

bool is_terminator(SentenceBreak kind) {
  return kind == SentenceBreak::full_stop || kind == SentenceBreak::terminator;
}

/// Marks of emphasis in plain texts.
bool is_emphasis(char32_t value) { return value == '*' || value == '_'; }

/// Behind "[12]", a reference, that begins at `position`; `position` itself if there is none.
size_t behind_reference(const TextView& text, size_t position, size_t line_end) {
  if (text.at(position) != '[') return position;
  size_t at = position + 1;
  while (at < line_end && text.break_at(at) == SentenceBreak::number) at = text.next(at);
  return at > position + 1 && at < line_end && text.at(at) == ']' ? at + 1 : position;
}

/// Behind closing quotes and brackets that begin at `position`.
size_t behind_closing(const TextView& text, size_t position, size_t line_end) {
  const auto kind_at = [&](size_t at) {
    return at < line_end ? text.break_at(at) : SentenceBreak::line_end;
  };
  while (position < line_end) {
    const char32_t value = text.at(position);
    const SentenceBreak kind = sentence_break(value);
    const size_t next = text.next(position);
    const bool before_word = is_letter(kind_at(next)) || kind_at(next) == SentenceBreak::number;
    if (kind == SentenceBreak::extend || kind == SentenceBreak::closing) {
      position = next;
    } else if ((kind == SentenceBreak::quote || kind == SentenceBreak::opening ||
                is_emphasis(value)) &&
               !before_word && value != '(' && value != '[') {
      position = next;
    } else if (const size_t behind = behind_reference(text, position, line_end);
               behind > position) {
      position = behind;
    } else {
      break;
    }
  }
  return position;
}

/// Behind the quotes of French that a space precedes: " »".
size_t behind_spaced_quote(const TextView& text, size_t position, size_t line_end) {
  constexpr char32_t kGuillemet = 0xBB;
  const size_t quote = text.skip_spaces(position, line_end);
  if (quote == position || quote == line_end || text.at(quote) != kGuillemet) return position;
  const size_t next = text.next(quote);
  if (next < line_end && text.break_at(next) != SentenceBreak::space &&
      text.break_at(next) != SentenceBreak::comma && !is_terminator(text.break_at(next)))
    return position;
  return next;
}

/// Behind the full stops of an ellipsis with spaces, ". . .", that goes on at `position`.
size_t behind_spaced_full_stops(const TextView& text, size_t position, size_t line_end) {
  for (;;) {
    const size_t dot = text.skip_spaces(position, line_end);
    if (dot == position || dot == line_end || text.break_at(dot) != SentenceBreak::full_stop)
      return position;
    const size_t next = text.next(dot);
    if (next < line_end && text.break_at(next) != SentenceBreak::space &&
        text.break_at(next) != SentenceBreak::closing &&
        text.break_at(next) != SentenceBreak::quote)
      return position;
    position = next;
  }
}

bool is_roman_number(std::string_view word) {
  return word.find_first_not_of("ivxlcdm") == word.npos && !word.empty();
}

/// Whether a word, without its last full stop, consists of initials: "j.r.r", "u.s", "ph.d".
bool is_initials(std::string_view word) {
  const TextView text(word);
  size_t length = 0, parts = 0;
  for (size_t at = 0; at < word.size(); at = text.next(at)) {
    const SentenceBreak kind = text.break_at(at);
    if (kind == SentenceBreak::full_stop || word[at] == '-') {
      length = 0;
    } else if (is_letter(kind)) {
      parts += length == 0;
      if (++length > 2) return false;
    } else if (kind != SentenceBreak::extend) {
      return false;
    }
  }
  return parts > 1;
}

bool is_one_letter(std::string_view word) {
  return !word.empty() && text::count_code_points(word) == 1 &&
         is_letter(sentence_break(text::code_point_at(word, 0).value));
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == word.npos;
}

}  // namespace

PossibleEnd read_possible_end(const TextView& text, size_t begin, size_t line_end) {
  PossibleEnd found{.begin = begin};
  size_t position = begin, full_stops = 0;
  for (;;) {
    const size_t marks = position;
    while (position < line_end && is_terminator(text.break_at(position))) {
      const char32_t value = text.at(position);
      if (sentence_break(value) == SentenceBreak::terminator) found.strong = true;
      if (is_wide_terminator(value)) found.wide = true;
      if (sentence_break(value) == SentenceBreak::terminator && position > 0 &&
          is_ideographic(text.at(text.previous(position))))
        found.wide = true;
      if (value == kEllipsis) full_stops += 3;
      if (value == '.') ++full_stops;
      position = text.next(position);
    }
    if (!found.strong) {
      const size_t first = position;
      position = behind_spaced_full_stops(text, position, line_end);
      const auto more = std::ranges::count(text.bytes().substr(first, position - first), '.');
      if (more > 0) found.spaced_full_stops = static_cast<int>(more) + 1;
      full_stops += static_cast<size_t>(more);
    }
    if (found.marks_end == 0) found.marks_end = position;
    size_t behind = behind_closing(text, position, line_end);
    behind = behind_spaced_quote(text, behind, line_end);
    if (behind > position) found.closed = true;
    if (marks == behind) break;
    position = behind;
    if (position == line_end || !is_terminator(text.break_at(position))) break;
  }
  found.ellipsis = full_stops > 1;
  found.end = position;
  // "end. . . . Next": a full stop, and an ellipsis that belongs to what follows.
  if (found.spaced_full_stops == 4 && text.skip_spaces(position, line_end) < line_end &&
      position == found.marks_end && begin > 0 &&
      text.break_at(text.previous(begin)) != SentenceBreak::space)
    return {.begin = begin, .end = text.next(begin), .marks_end = text.next(begin)};
  return found;
}

/// What stands behind an end.
struct SentenceEnds::Following {
  size_t begin = 0;                            // of what is no space
  SentenceBreak first = SentenceBreak::other;  // the class there
  SentenceBreak kind = SentenceBreak::other;   // of the first letter or digit
  std::string word = {};                       // in lower case, which begins there
  bool abbreviated = false;                    // whether a full stop follows the word
  bool marked = false;                         // whether something stands before the word
};

SentenceEnds::Following SentenceEnds::read_following(size_t position) const {
  Following found{.begin = text_.skip_spaces(position, line_end_)};
  if (found.begin == line_end_) return found;
  found.first = text_.break_at(found.begin);
  size_t at = found.begin;
  while (at < line_end_) {
    found.kind = text_.break_at(at);
    if (is_letter(found.kind) || found.kind == SentenceBreak::number) break;
    found.marked = true;
    at = text_.next(at);
    if (found.kind == SentenceBreak::comma || found.kind == SentenceBreak::space) {
      if (found.kind == SentenceBreak::comma) break;
    }
  }
  constexpr size_t kLongestWord = 40;  // bytes that a word of the tables may have
  const size_t begin = at;
  while (at < line_end_ && at - begin < kLongestWord) {
    const SentenceBreak kind = text_.break_at(at);
    if (!is_letter(kind) && kind != SentenceBreak::extend && kind != SentenceBreak::number &&
        text_.at(at) != '\'')
      break;
    at = text_.next(at);
  }
  found.word = in_lower_case(text_.bytes().substr(begin, at - begin));
  found.abbreviated = at < line_end_ && text_.at(at) == '.';
  return found;
}

bool SentenceEnds::ends_unspaced(const PossibleEnd& end) const {
  const char32_t next = text_.at(end.end);
  const SentenceBreak kind = sentence_break(next);
  if (kind == SentenceBreak::comma || kind == SentenceBreak::extend) return false;
  if (end.wide) return true;
  return end.strong && (is_ideographic(next) || kind == SentenceBreak::opening);
}

/// "[...]", "(?)"; and ". . .", which is inside a sentence, unlike ". . . .".
bool SentenceEnds::is_remark(const PossibleEnd& end) const {
  if (end.begin == 0) return false;
  const SentenceBreak before = text_.break_at(text_.previous(end.begin));
  if (before == SentenceBreak::space && end.spaced_full_stops == 3) return true;
  return before == SentenceBreak::opening && end.marks_end < line_end_ &&
         text_.break_at(end.marks_end) == SentenceBreak::closing;
}

bool SentenceEnds::ends(size_t start, const PossibleEnd& end) const {
  if (text_.skip_spaces(end.end, line_end_) == line_end_) return true;
  if (is_remark(end)) return false;
  if (text_.break_at(end.end) != SentenceBreak::space) return ends_unspaced(end);
  const Following following = read_following(end.end);
  if (following.first == SentenceBreak::comma) return false;
  if (following.kind == SentenceBreak::lower && !ends_before_small_letter(start, end, following))
    return false;
  if (end.strong || end.ellipsis) return true;
  return full_stop_ends(start, end, following);
}

/// Texts without capitals, and sentences that begin with an ellipsis or an address.
bool SentenceEnds::ends_before_small_letter(size_t start, const PossibleEnd& end,
                                            const Following& following) const {
  if (following.first == SentenceBreak::full_stop) return !end.ellipsis;
  if (following.word.starts_with("http") || following.word == "www") return !end.closed;
  if (end.closed) return false;
  const char32_t mark = text_.at(end.begin);
  const bool small = text_.break_at(start) == SentenceBreak::lower;
  if (rules_.inside_before_small_letter(mark) && !small) return false;
  if (end.strong && (mark != '!' || end.marks_end > end.begin + 1)) return true;
  return small && !end.ellipsis;
}

bool SentenceEnds::learned_mark_ends(size_t position, size_t& behind) const {
  if (!rules_.ends_before_capital(text_.at(position))) return false;
  behind = behind_closing(text_, text_.next(position), line_end_);
  return behind < line_end_ && text_.break_at(behind) == SentenceBreak::space &&
         read_following(behind).kind == SentenceBreak::upper;
}

size_t SentenceEnds::word_begin(size_t start, size_t end) const {
  while (end > start) {
    const size_t previous = text_.previous(end);
    const char32_t value = text_.at(previous);
    const SentenceBreak kind = sentence_break(value);
    constexpr std::u32string_view kInside = U".-'’&/°№º:";
    if (!is_letter(kind) && kind != SentenceBreak::number && kind != SentenceBreak::extend &&
        kInside.find(value) == kInside.npos)
      break;
    end = previous;
  }
  return end;
}

bool SentenceEnds::follows_small_word(size_t start, size_t end) const {
  size_t at = text_.trim_spaces(start, end);
  const size_t begin = word_begin(start, at);
  return begin < at && text_.break_at(begin) == SentenceBreak::lower;
}

std::string SentenceEnds::letter_before(size_t start, size_t begin) const {
  const size_t stop = text_.trim_spaces(start, begin);
  if (stop == begin || stop < start + 2 || text_.bytes()[stop - 1] != '.') return {};
  const size_t letter = word_begin(start, stop - 1);
  const std::string_view word = text_.bytes().substr(letter, stop - letter);
  return is_one_letter(word.substr(0, word.size() - 1)) ? in_lower_case(word) : std::string();
}

bool SentenceEnds::full_stop_ends(size_t start, const PossibleEnd& end,
                                  const Following& following) const {
  if (end.closed) return true;
  const size_t begin = word_begin(start, end.begin);
  const std::string_view written = text_.bytes().substr(begin, end.begin - begin);
  const std::string word = in_lower_case(written);
  if (word.empty()) return true;
  if (is_number(word)) {
    if (begin == start) return false;  // the number of an item of a list
    return !rules_.has_ordinals() || word.size() > 2 || following.kind != SentenceBreak::upper ||
           rules_.begins_sentences(following.word);
  }
  AbbreviationKind kind = rules_.abbreviation(word);
  if (is_one_letter(word))
    if (const std::string pair = letter_before(start, begin) + word; pair.size() > word.size())
      if (const AbbreviationKind whole = rules_.abbreviation(pair); whole != AbbreviationKind::none)
        kind = whole;
  if (following.kind == SentenceBreak::number) {
    if (kind == AbbreviationKind::none || kind == AbbreviationKind::at_end)
      return !is_one_letter(word) || following.marked;
    return false;
  }
  switch (kind) {
    case AbbreviationKind::before_name:
      return false;
    case AbbreviationKind::before_number:
      if (is_roman_number(following.word) && !rules_.begins_sentences(following.word)) return false;
      if (is_one_letter(word)) break;
      return true;
    case AbbreviationKind::at_end:
      return true;
    case AbbreviationKind::inside:
      return rules_.begins_sentences(following.word) && !following.abbreviated;
    case AbbreviationKind::none:
      break;
  }
  return ends_before_capital(start, written, following);
}

bool SentenceEnds::ends_before_capital(size_t start, std::string_view word,
                                       const Following& following) const {
  const bool starter = rules_.begins_sentences(following.word) && !following.abbreviated;
  if (is_one_letter(word)) {
    if (rules_.is_english() && word == "I")
      return starter ||
             follows_small_word(start, static_cast<size_t>(word.data() - text_.bytes().data()));
    return starter;
  }
  if (is_initials(word)) return starter;
  return true;
}

}  // namespace heed::document
