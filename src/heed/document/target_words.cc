#include "heed/document/target_words.h"

#include <algorithm>

#include "heed/base/ascii.h"
#include "heed/base/utf8.h"
#include "heed/document/kept_parts.h"
#include "heed/text/unicode/properties.h"

namespace heed::document {
namespace {

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
    fixed_ = find_kept_parts(segment_, run_, text_, aligned_);
    for (const auto& [begin, word] : fixed_)
      if (word.item >= 0) is_fixed_[static_cast<size_t>(word.item)] = true;
    if (!aligned_) alignment = proportional();
    add_words(with_cores(alignment));
    std::ranges::sort(result_.links, [](const SourceLink& a, const SourceLink& b) {
      return a.source.begin != b.source.begin ? a.source.begin < b.source.begin : a.word < b.word;
    });
    return std::move(result_);
  }

 private:
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
  KeptParts fixed_;
  std::vector<bool> is_fixed_;  // of each item
  bool aligned_ = true;         // else words are taken to keep their places
  TargetWords result_;
};

}  // namespace

TargetWords target_words(const Segment& segment, const Run& run, std::string_view text,
                         const std::vector<AlignedSpans>& alignment) {
  return TargetWordReader(segment, run, text).read(alignment);
}

}  // namespace heed::document
