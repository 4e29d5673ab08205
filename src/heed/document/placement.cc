#include "heed/document/placement.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/document/intervals.h"
#include "heed/document/target_words.h"
#include "heed/text/unicode/properties.h"

namespace heed::document {
namespace {

/// Line breaks and control characters are spaces: a segment has none.
std::string one_line_of(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (static_cast<uint8_t>(c) < 0x20 || c == 0x7F) c = ' ';
  return result;
}

/// What alignments have beyond the characters of the texts is cut.
std::vector<AlignedSpans> checked(const Segment& segment, const TranslatedSegment& translated) {
  std::vector<AlignedSpans> result;
  const auto check = [](ByteRange range, std::string_view text, std::string_view what) {
    require(range.begin <= range.end && range.end <= text.size(),
            "an alignment has bytes {} to {} of a {} of {} bytes", range.begin, range.end, what,
            text.size());
    return ByteRange{code_point_begin(text, range.begin), code_point_begin(text, range.end)};
  };
  for (const AlignedSpans& pair : translated.alignment) {
    const AlignedSpans whole{check(pair.source, segment.text, "segment"),
                             check(pair.target, translated.text, "translation")};
    if (whole.source.begin < whole.source.end && whole.target.begin < whole.target.end)
      result.push_back(whole);
  }
  return result;
}

/// What no space stands before.
bool begins_with_closing_punctuation(std::string_view text) {
  constexpr std::string_view kClosing = ".,;:!?)]";
  const CodePoint first = code_point_at(text, 0);
  return first.length == 1 ? kClosing.find(text.front()) != kClosing.npos
                           : text::is_punctuation(first.value);
}

/// Writes a translation with the items in their places.
class PlacementWriter {
 public:
  /// `apart`: with spaces around each placeholder, and with no character of one elsewhere; tags
  /// that can be respelled are, with spaces around their elements.
  PlacementWriter(const Segment& segment, const Run& run, std::string_view text,
                  const std::vector<AlignedSpans>& alignment, bool apart)
      : segment_(segment), run_(run), text_(text), apart_(apart) {
    written_ =
        apart ? without_placeholder_characters(text, run.rules.placeholders) : std::string(text);
    TargetWords target = target_words(segment, run, text, alignment);
    words_ = target.words;
    intervals_ = intervals_of(segment, run, std::move(target));
    drop_moved_parts();
    children_.resize(run.items.size() + 1);
    for (size_t i = 0; i < run.items.size(); ++i)
      children_[static_cast<size_t>(run.items[i].parent + 1)].push_back(i);
    for (std::vector<size_t>& siblings : children_)
      std::ranges::stable_sort(siblings, {}, [&](size_t i) { return intervals_[i].begin; });
  }

  std::string write() {
    at_ = std::min(text_.find_first_not_of(' '), text_.size());
    write_children(-1);
    write_text(text_.size());
    result_.resize(result_.find_last_not_of(' ') + 1);
    return std::move(result_);
  }

  /// The texts between tags, each in a line: what placeholders are looked for in.
  const std::string& plain() const { return plain_; }

 private:
  /// What the text has of kept parts that have their place elsewhere, because the element around
  /// them has.
  void drop_moved_parts() {
    for (TargetWord& word : words_) {
      if (word.item < 0) continue;
      const auto item = static_cast<size_t>(word.item);
      if (run_.items[item].kind == Inline::Kind::kept &&
          intervals_[item].begin == intervals_[item].end)
        word.item = TargetWord::kDropped;
    }
  }

  // An item is at most kMaxInlineDepth deep.
  void write_children(int32_t parent, size_t depth = 0) {
    for (const size_t i : children_[static_cast<size_t>(parent + 1)]) {
      const Inline& item = run_.items[i];
      const WordInterval words = intervals_[i];
      const bool has_words = words.begin < words.end;
      write_text(has_words ? words_[words.begin].range.begin : gap_before(item, words.begin));
      if (item.kind != Inline::Kind::element) {
        write_atom(item, has_words);
      } else {
        write_open(item, depth);
        write_children(static_cast<int32_t>(i), depth + 1);
      }
      if (has_words) {
        const size_t end = words_[words.end - 1].range.end;
        if (item.kind == Inline::Kind::kept) skip_text(end);
        write_text(end);
      }
      if (item.kind == Inline::Kind::element) write_close(item, depth);
    }
  }

  bool is_respelled() const { return apart_ && run_.rules.check != nullptr; }

  void write_open(const Inline& item, size_t depth) {
    flush_space();
    if (is_respelled() && !ends_with_space()) append(" ");
    write_tag(is_respelled() ? run_.rules.check->respelled(item.open, depth) : item.open);
    content_begin_ = result_.size();
  }

  void write_close(const Inline& item, size_t depth) {
    if (result_.size() == content_begin_) result_ += run_.rules.filler;
    write_tag(is_respelled() ? run_.rules.check->respelled(item.close, depth) : item.close);
    if (is_respelled()) wants_space_ = true;
  }

  /// The byte for what stands between two words: beside the one that it stood beside.
  size_t gap_before(const Inline& item, size_t word) const {
    const bool before_word = item.space_before && !item.space_after;
    if (word < words_.size() && (word == 0 || before_word)) return words_[word].range.begin;
    return word == 0 ? 0 : words_[word - 1].range.end;
  }

  void write_tag(std::string_view tag) {
    result_ += tag;
    plain_ += '\n';
  }

  /// A kept part, in place of words or between them, or a point.
  void write_atom(const Inline& item, bool in_place) {
    const ByteRange text = item.text;
    const bool separate = apart_ && item.placeholder;
    flush_space();
    if ((separate || (!in_place && wants_space_before(item))) && !ends_with_space()) append(" ");
    result_ += item.open;
    if (item.placeholder)
      plain_ += segment_.text.substr(text.begin, text.end - text.begin);
    else
      plain_ += "\n\1\n";
    wants_space_ = separate || (!in_place && wants_space_after(item));
    space_unless_punctuation_ = !separate;
  }

  /// A kept part without a place of its own is apart from the words around it, unless letters of
  /// the source touch it.
  bool wants_space_before(const Inline& item) const {
    return item.space_before || (item.text.begin < item.text.end && item.text.begin > 0 &&
                                 !is_letter_at(item.text.begin - 1));
  }
  bool wants_space_after(const Inline& item) const {
    return item.space_after || (item.text.begin < item.text.end && !is_letter_at(item.text.end));
  }
  bool is_letter_at(size_t at) const {
    return at < segment_.text.size() &&
           text::is_word(code_point_at(segment_.text, code_point_begin(segment_.text, at)).value);
  }

  bool ends_with_space() const {
    return plain_.empty() || plain_.find_last_not_of('\n') == plain_.npos ||
           plain_[plain_.find_last_not_of('\n')] == ' ';
  }

  void append(std::string_view text) {
    const std::string escaped = run_.rules.escape(text);
    result_ += escaped;
    plain_ += run_.rules.escapes_placeholders ? std::string_view(escaped) : text;
  }

  void flush_space() {
    if (wants_space_) append(" ");
    wants_space_ = false;
  }

  /// Writes the text up to byte `end`, without what was dropped.
  void write_text(size_t end) {
    while (at_ < end) {
      while (word_ < words_.size() && words_[word_].range.end <= at_) ++word_;
      const bool dropped = word_ < words_.size() && words_[word_].item == TargetWord::kDropped;
      const size_t next = dropped                 ? words_[word_].range.begin
                          : word_ < words_.size() ? words_[word_].range.end
                                                  : end;
      if (next > at_)
        write_literal(std::string_view(written_).substr(at_, std::min(next, end) - at_));
      at_ = std::max(at_, std::min(next, end));
      if (dropped && at_ < end) skip_text(std::min(words_[word_].range.end, end));
    }
  }

  void skip_text(size_t end) { at_ = std::max(at_, end); }

  void write_literal(std::string_view text) {
    if (text.empty()) return;
    const bool closes = space_unless_punctuation_ && begins_with_closing_punctuation(text);
    if (text.front() == ' ' || closes) wants_space_ = false;
    flush_space();
    if (text.front() == ' ' && ends_with_space()) text.remove_prefix(1);
    append(text);
  }

  const Segment& segment_;
  const Run& run_;
  const std::string_view text_;
  const bool apart_;
  std::string written_;  // the text without what must not be there
  std::vector<TargetWord> words_;
  std::vector<WordInterval> intervals_;
  std::vector<std::vector<size_t>>
      children_;  // of no item, then of each, in the order of the result
  std::string result_, plain_;
  size_t content_begin_ = std::string::npos;  // of the element that was opened last
  size_t at_ = 0, word_ = 0;
  bool wants_space_ = false, space_unless_punctuation_ = true;
};

/// Whether a translation has each placeholder of its source once, and none of a program besides.
bool has_its_placeholders(const Segment& segment, const Run& run, const std::string& plain) {
  std::vector<std::string> expected, found;
  // What stands for one character, such as "%%", may come from the translation, too.
  const auto counts = [&](const std::string& text) {
    return !run.rules.escapes_placeholders || (text != "%%" && text != "{{" && text != "}}");
  };
  for (const Inline& item : run.items) {
    if (!item.placeholder) continue;
    std::string text = segment.text.substr(item.text.begin, item.text.end - item.text.begin);
    if (counts(text)) expected.push_back(std::move(text));
  }
  std::ranges::sort(expected);
  for (const Placeholder& p : find_placeholders(plain, run.rules.placeholders)) {
    std::string text = plain.substr(p.range.begin, p.range.end - p.range.begin);
    const bool is_code = p.kind == Placeholder::Kind::code && counts(text);
    if (is_code || std::ranges::binary_search(expected, text)) found.push_back(std::move(text));
  }
  std::ranges::sort(found);
  return found == expected;
}

}  // namespace

std::string place(const Segment& segment, const Run& run, const TranslatedSegment& translated) {
  require_utf8(translated.text, "a translation");
  const std::vector<AlignedSpans> alignment = checked(segment, translated);
  std::string text = one_line_of(translated.text);
  if (text.find_first_not_of(' ') == text.npos || text == segment.text) return run.source;
  const StructureCheck* const check = run.rules.check.get();
  const auto finished = [&](std::string placed) {
    return check ? check->in_place(std::move(placed)) : placed;
  };
  PlacementWriter writer(segment, run, text, alignment, false);
  std::string placed = writer.write();
  // Nothing may be left of a text that was a placeholder of its own.
  if (writer.plain().find_first_not_of(" \n") == std::string::npos) return run.source;
  if (has_its_placeholders(segment, run, writer.plain()) &&
      (!check || check->has_items(run, placed)))
    return finished(std::move(placed));
  placed = PlacementWriter(segment, run, text, alignment, true).write();
  return !check || check->has_items(run, placed) ? finished(std::move(placed)) : run.source;
}

}  // namespace heed::document
