#include "heed/document/target_words.h"

#include <algorithm>
#include <map>

#include "heed/base/ascii.h"
#include "heed/base/utf8.h"
#include "heed/text/unicode/properties.h"

namespace heed::document {
namespace {

// Shorter names occur as other words if case does not count.
constexpr size_t kLooseLength = 4;

bool is_space(char c) { return kWhiteSpace.find(c) != kWhiteSpace.npos || c == '\f'; }

/// Letters of scripts that put no spaces between words, taken alone.
bool stands_alone(char32_t value) { return value >= 0x2E80 && value < 0x1F000; }

/// Calls visit(ByteRange) for each word of bytes `begin` to `end`.
template <typename Visit>
void for_each_word(std::string_view text, ByteRange part, const Visit& visit) {
  size_t begin = part.begin;
  const auto end_word = [&](size_t at) {
    if (begin < at) visit(ByteRange{begin, at});
  };
  for (size_t at = part.begin; at < part.end;) {
    const CodePoint point = code_point_at(text, at);
    const size_t next = at + point.length;
    if (is_space(text[at])) {
      end_word(at);
      begin = next;
    } else if (stands_alone(point.value)) {
      end_word(at);
      visit(ByteRange{at, next});
      begin = next;
    }
    at = next;
  }
  end_word(part.end);
}

/// A word without the punctuation around it.
ByteRange core_of(std::string_view text, ByteRange word) {
  static constexpr std::string_view kAround = ".,;:!?()\"'";
  const auto is_around = [&](size_t at) {
    const CodePoint point = code_point_at(text, at);
    return point.length == 1 ? kAround.find(text[at]) != kAround.npos
                             : text::is_punctuation(point.value);
  };
  ByteRange core = word;
  while (core.begin < core.end && is_around(core.begin))
    core.begin += code_point_at(text, core.begin).length;
  while (core.end > core.begin) {
    const size_t last = code_point_begin(text, core.end - 1);
    if (!is_around(last)) break;
    core.end = last;
  }
  return core.begin < core.end ? core : word;
}

/// Finds the innermost item that has a byte of the source.
class ItemsByPosition {
 public:
  ItemsByPosition(const Run& run, size_t size) {
    for (size_t i = 0; i < run.items.size(); ++i) {
      const int32_t parent = run.items[i].parent;
      depths_.push_back(parent < 0 ? 1 : depths_[static_cast<size_t>(parent)] + 1);
    }
    std::vector<int32_t> open;
    const auto close_until = [&](size_t at) {
      while (!open.empty() && run.items[static_cast<size_t>(open.back())].text.end <= at) {
        const size_t end = run.items[static_cast<size_t>(open.back())].text.end;
        open.pop_back();
        begin_stretch(end, open.empty() ? TargetWord::kOfNoItem : open.back());
      }
    };
    begin_stretch(0, TargetWord::kOfNoItem);
    for (size_t i = 0; i < run.items.size(); ++i) {
      const ByteRange text = run.items[i].text;
      close_until(text.begin);
      if (text.begin == text.end) continue;
      open.push_back(static_cast<int32_t>(i));
      begin_stretch(text.begin, open.back());
    }
    close_until(size);
  }

  /// Of all bytes of `range`; the first of the innermost.
  int32_t innermost(ByteRange range) const {
    int32_t best = TargetWord::kOfNoItem;
    auto at = std::ranges::upper_bound(stretches_, range.begin, {}, &Stretch::begin) - 1;
    for (int steps = 0; at != stretches_.end() && at->begin < range.end && steps < 64;
         ++at, ++steps)
      if (depth_of(at->item) > depth_of(best)) best = at->item;
    return best;
  }

  int depth_of(int32_t item) const { return item < 0 ? 0 : depths_[static_cast<size_t>(item)]; }

 private:
  struct Stretch {
    size_t begin = 0;
    int32_t item = TargetWord::kOfNoItem;
  };

  void begin_stretch(size_t at, int32_t item) {
    if (!stretches_.empty() && stretches_.back().begin == at)
      stretches_.back().item = item;
    else
      stretches_.push_back({at, item});
  }

  std::vector<Stretch> stretches_;
  std::vector<int> depths_;
};

class TargetWordReader {
 public:
  TargetWordReader(const Segment& segment, const Run& run, std::string_view text)
      : segment_(segment),
        run_(run),
        text_(text),
        items_(run, segment.text.size()),
        is_fixed_(run.items.size()) {}

  TargetWords read(std::vector<AlignedSpans> alignment) {
    aligned_ = !alignment.empty();
    find_placeholders_of_text();
    find_other_kept();
    if (!aligned_) alignment = proportional();
    add_words(with_cores(alignment));
    std::ranges::sort(result_.links, [](const SourceLink& a, const SourceLink& b) {
      return a.source.begin != b.source.begin ? a.source.begin < b.source.begin : a.word < b.word;
    });
    return std::move(result_);
  }

 private:
  std::string_view source(ByteRange range) const {
    return std::string_view(segment_.text).substr(range.begin, range.end - range.begin);
  }

  /// White space and case may have changed.
  static std::string loose(std::string_view text) {
    std::string result = lower_case(text);
    std::erase_if(result, is_space);
    return result;
  }

  void find_placeholders_of_text() {
    std::map<std::string, std::vector<int32_t>, std::less<>> wanted;
    for (size_t i = run_.items.size(); i-- > 0;)
      if (run_.items[i].placeholder)
        wanted[std::string(source(run_.items[i].text))].push_back(static_cast<int32_t>(i));
    for (const Placeholder& found : find_placeholders(text_, run_.rules.placeholders)) {
      const auto item =
          wanted.find(text_.substr(found.range.begin, found.range.end - found.range.begin));
      if (item == wanted.end()) {
        if (found.kind == Placeholder::Kind::code) add_fixed(found.range, TargetWord::kDropped);
      } else if (item->second.empty()) {  // one too many
        add_fixed(found.range, TargetWord::kDropped);
      } else {
        add_fixed(found.range, item->second.back());
        item->second.pop_back();
      }
    }
    find_loose(wanted);
  }

  /// Placeholders that the translation has with other spaces or case: "% 1 $ S".
  void find_loose(const std::map<std::string, std::vector<int32_t>, std::less<>>& wanted) {
    std::string squeezed;
    std::vector<size_t> places;
    size_t budget = 64 * text_.size() + (size_t{1} << 16);
    for (const auto& [name, items] : wanted) {
      if (items.empty() || name.size() < 2) continue;
      if (squeezed.empty()) {
        for (size_t i = 0; i < text_.size(); ++i)
          if (!is_space(text_[i])) places.push_back(i);
        squeezed = loose(text_);
      }
      const std::string searched = loose(name);
      size_t from = 0;
      for (size_t left = items.size(); left-- > 0 && budget >= squeezed.size();) {
        budget -= squeezed.size() - std::min(from, squeezed.size());
        const size_t at = squeezed.find(searched, from);
        if (at == squeezed.npos) break;
        from = at + searched.size();
        add_fixed({places[at], places[from - 1] + 1}, items[left]);
      }
    }
  }

  /// translate="no", code and the like, at the borders of words.
  void find_other_kept() {
    size_t budget = 64 * text_.size() + (size_t{1} << 16);
    std::map<std::string, size_t, std::less<>> searched_to, lower_searched_to;
    std::string lower;
    for (size_t i = 0; i < run_.items.size(); ++i) {
      const Inline& item = run_.items[i];
      const std::string_view name = source(item.text);
      if (item.kind != Inline::Kind::kept || item.placeholder || name.empty()) continue;
      const bool found = find_whole(text_, name, i, searched_to[std::string(name)], budget);
      if (found || aligned_ || name.size() < kLooseLength) continue;
      if (lower.empty()) lower = lower_case(text_);
      const std::string lower_name = lower_case(name);
      find_whole(lower, lower_name, i, lower_searched_to[lower_name], budget);
    }
  }

  /// Looks for a part as whole words, from byte `from` on, which moves.
  bool find_whole(std::string_view text, std::string_view name, size_t item, size_t& from,
                  size_t& budget) {
    while (from != text.npos && budget >= text.size()) {
      budget -= text.size() - std::min(from, text.size());
      const size_t at = text.find(name, from);
      from = at == text.npos ? at : at + name.size();
      if (at != text.npos && is_whole(at, from) &&
          add_fixed({at, from}, static_cast<int32_t>(item)))
        return true;
    }
    return false;
  }

  bool is_whole(size_t begin, size_t end) const {
    const auto is_letter = [&](size_t at) { return text::is_word(code_point_at(text_, at).value); };
    const size_t before = begin == 0 ? 0 : code_point_begin(text_, begin - 1);
    return (begin == 0 || !is_letter(before) || !is_letter(begin)) &&
           (end == text_.size() || !is_letter(end) || !is_letter(code_point_begin(text_, end - 1)));
  }

  /// False if something that was found before is there.
  bool add_fixed(ByteRange range, int32_t item) {
    const auto next = fixed_.lower_bound(range.begin);
    if (next != fixed_.end() && next->first < range.end) return false;
    if (next != fixed_.begin() && std::prev(next)->second.range.end > range.begin) return false;
    fixed_.emplace(range.begin, TargetWord{range, item});
    if (item >= 0) is_fixed_[static_cast<size_t>(item)] = true;
    return true;
  }

  /// What a word says of its place that comes from bytes `from`.
  int32_t item_of(ByteRange from) const {
    const int32_t item = items_.innermost(from);
    if (!is_kept(item)) return item;
    if (is_fixed_[static_cast<size_t>(item)]) return TargetWord::kOfNothing;
    return aligned_ ? item : run_.items[static_cast<size_t>(item)].parent;
  }

  bool is_kept(int32_t item) const {
    return item >= 0 && run_.items[static_cast<size_t>(item)].kind == Inline::Kind::kept;
  }

  /// Words in proportion to their number.
  std::vector<AlignedSpans> proportional() const {
    std::vector<ByteRange> from, to;
    for_each_word(segment_.text, {0, segment_.text.size()},
                  [&](ByteRange w) { from.push_back(w); });
    for_each_word(text_, {0, text_.size()}, [&](ByteRange w) { to.push_back(w); });
    std::vector<AlignedSpans> alignment;
    const size_t m = from.size(), n = to.size();
    for (size_t j = 0; j < n && m > 0; ++j)
      alignment.push_back({from[(2 * j + 1) * m / (2 * n)], to[j]});
    for (size_t i = 0; i < m && n > 0 && m > n; ++i)
      alignment.push_back({from[i], to[(2 * i + 1) * n / (2 * m)]});
    return alignment;
  }

  /// Words and the punctuation around them, each aligned with its like.
  std::vector<AlignedSpans> with_cores(const std::vector<AlignedSpans>& alignment) const {
    std::vector<AlignedSpans> result;
    const auto add = [&](ByteRange from, ByteRange to) {
      if (from.begin < from.end && to.begin < to.end) result.push_back({from, to});
    };
    for (const AlignedSpans& pair : alignment) {
      const ByteRange from = core_of(segment_.text, pair.source), to = core_of(text_, pair.target);
      add({pair.source.begin, from.begin}, {pair.target.begin, to.begin});
      add(from, to);
      add({from.end, pair.source.end}, {to.end, pair.target.end});
    }
    std::ranges::sort(result, [](const AlignedSpans& a, const AlignedSpans& b) {
      return a.target.begin != b.target.begin ? a.target.begin < b.target.begin
                                              : a.target.end < b.target.end;
    });
    return result;
  }

  void add_words(const std::vector<AlignedSpans>& alignment) {
    size_t at = 0;
    auto pair = alignment.begin();
    for (const auto& [begin, word] : fixed_) {
      pair = add_aligned(alignment, pair, at, begin);
      if (word.item >= 0)
        result_.links.push_back(
            {run_.items[static_cast<size_t>(word.item)].text, result_.words.size()});
      result_.words.push_back(word);
      at = word.range.end;
    }
    add_aligned(alignment, pair, at, text_.size());
  }

  using Pair = std::vector<AlignedSpans>::const_iterator;

  /// The words of bytes `at` to `end`, from the first pair that may be there.
  Pair add_aligned(const std::vector<AlignedSpans>& alignment, Pair pair, size_t at, size_t end) {
    for (; pair != alignment.end() && pair->target.begin < end; ++pair) {
      const ByteRange target{std::max(at, pair->target.begin), std::min(end, pair->target.end)};
      const int32_t item = item_of(pair->source);
      if (target.begin >= target.end) {
        // Another partner of the last word.
        if (!result_.words.empty() && result_.words.back().range.end == pair->target.end)
          add_partner(pair->source, item);
        continue;
      }
      add_unaligned({at, target.begin});
      result_.links.push_back({pair->source, result_.words.size()});
      result_.words.push_back({target, item});
      at = target.end;
    }
    add_unaligned({at, end});
    return pair;
  }

  void add_partner(ByteRange from, int32_t item) {
    TargetWord& word = result_.words.back();
    if (word.item < TargetWord::kOfNoItem) return;
    result_.links.push_back({from, result_.words.size() - 1});
    if (!is_kept(item) && !is_kept(word.item) && items_.depth_of(item) > items_.depth_of(word.item))
      word.item = item;
  }

  void add_unaligned(ByteRange part) {
    for_each_word(text_, part, [&](ByteRange word) { result_.words.push_back({word}); });
  }

  const Segment& segment_;
  const Run& run_;
  const std::string_view text_;
  const ItemsByPosition items_;
  std::map<size_t, TargetWord> fixed_;  // kept parts that the text has, by their first bytes
  std::vector<bool> is_fixed_;          // of each item
  bool aligned_ = true;                 // else words are taken to keep their places
  TargetWords result_;
};

}  // namespace

TargetWords target_words(const Segment& segment, const Run& run, std::string_view text,
                         const std::vector<AlignedSpans>& alignment) {
  return TargetWordReader(segment, run, text).read(alignment);
}

}  // namespace heed::document
