#include "heed/document/intervals.h"

#include <algorithm>
#include <optional>

namespace heed::document {
namespace {

/// Items as a tree, in the order of the document.
class ItemTree {
 public:
  explicit ItemTree(const Run& run) : children_(run.items.size() + 1), ends_(run.items.size()) {
    for (size_t i = run.items.size(); i-- > 0;) {
      ends_[i] = std::max(ends_[i], i + 1);
      const int32_t parent = run.items[i].parent;
      if (parent >= 0)
        ends_[static_cast<size_t>(parent)] = std::max(ends_[static_cast<size_t>(parent)], ends_[i]);
    }
    for (size_t i = 0; i < run.items.size(); ++i)
      children_[static_cast<size_t>(run.items[i].parent + 1)].push_back(i);
  }

  const std::vector<size_t>& children(int32_t item) const {
    return children_[static_cast<size_t>(item + 1)];
  }

  /// The place among the children of `parent` of the one that has `item`; none, if none has.
  std::optional<size_t> child_with(int32_t parent, int32_t item) const {
    if (item < 0) return std::nullopt;
    const std::vector<size_t>& all = children(parent);
    const auto after = std::ranges::upper_bound(all, static_cast<size_t>(item));
    if (after == all.begin() || ends_[*(after - 1)] <= static_cast<size_t>(item))
      return std::nullopt;
    return static_cast<size_t>(after - 1 - all.begin());
  }

 private:
  std::vector<std::vector<size_t>> children_;  // of no item, then of each
  std::vector<size_t> ends_;                   // behind the last descendant
};

class IntervalFinder {
 public:
  IntervalFinder(const Segment& segment, const Run& run, TargetWords target)
      : segment_(segment),
        run_(run),
        target_(std::move(target)),
        tree_(run),
        intervals_(run.items.size()) {}

  std::vector<WordInterval> find() {
    place_children(-1, {0, target_.words.size()});
    for (size_t i = 0; i < run_.items.size(); ++i)
      place_children(static_cast<int32_t>(i), intervals_[i]);
    return std::move(intervals_);
  }

 private:
  static constexpr size_t kNoChild = std::string::npos;

  /// What is known of a child from the words of its parent.
  struct Child {
    size_t first = 0, last = 0, words = 0;
    WordInterval longest;
    size_t longest_words = 0;
  };

  struct Taken {
    WordInterval words;
    size_t child = 0;
  };

  void place_children(int32_t parent, WordInterval within) {
    const std::vector<size_t>& all = tree_.children(parent);
    if (all.empty()) return;
    std::vector<Child> children(all.size());
    // How many words before each one belong to children.
    std::vector<size_t> before(within.end - within.begin + 1, 0);
    size_t current = kNoChild, run_begin = 0, run_words = 0;
    for (size_t w = within.begin; w < within.end; ++w) {
      const int32_t item = target_.words[w].item;
      const size_t child = tree_.child_with(parent, item).value_or(kNoChild);
      before[w - within.begin + 1] = before[w - within.begin] + (child == kNoChild ? 0 : 1);
      if (child == kNoChild) {
        if (item != TargetWord::kOfNothing) current = kNoChild;
        continue;
      }
      if (child != current) {
        current = child;
        run_begin = w;
        run_words = 0;
      }
      Child& found = children[child];
      if (found.words++ == 0) found.first = w;
      found.last = w;
      if (++run_words > found.longest_words) {
        found.longest_words = run_words;
        found.longest = {run_begin, w + 1};
      }
    }
    std::vector<Taken> taken;
    for (size_t c = 0; c < all.size(); ++c) {
      const Child& child = children[c];
      if (child.words == 0) continue;
      const size_t between =
          before[child.last + 1 - within.begin] - before[child.first - within.begin];
      const bool whole = between == child.words && run_.items[all[c]].kind == Inline::Kind::element;
      intervals_[all[c]] = whole ? WordInterval{child.first, child.last + 1} : child.longest;
      taken.push_back({intervals_[all[c]], all[c]});
    }
    std::ranges::sort(taken, {}, [](const Taken& t) { return t.words.begin; });
    for (size_t c = 0; c < all.size(); ++c)
      if (children[c].words == 0) place_unaligned(parent, all[c], within, taken);
  }

  /// An item none of whose words is there: behind the words that come before it in the source.
  void place_unaligned(int32_t parent, size_t child, WordInterval within,
                       const std::vector<Taken>& taken) {
    const Inline& item = run_.items[child];
    size_t gap = gap_of(parent, item.text, within);
    // Not within a sibling, and not behind one that follows in the source.
    const Taken* beside = gap > within.begin ? taken_with(taken, gap - 1) : nullptr;
    if (beside && (beside->child > child || gap < beside->words.end))
      gap = beside->child > child ? beside->words.begin : beside->words.end;
    intervals_[child] = {gap, gap};
    const bool has_words = item.kind == Inline::Kind::element && item.text.begin < item.text.end;
    if (!has_words || gap >= within.end || taken_with(taken, gap)) return;
    TargetWord& word = target_.words[gap];
    if (word.item != TargetWord::kOfNothing) return;
    word.item = static_cast<int32_t>(child);
    intervals_[child].end = gap + 1;
  }

  /// The one that has word `word`, if any.
  static const Taken* taken_with(const std::vector<Taken>& sorted, size_t word) {
    const auto after =
        std::ranges::upper_bound(sorted, word, {}, [](const Taken& t) { return t.words.begin; });
    return after == sorted.begin() || (after - 1)->words.end <= word ? nullptr : &*(after - 1);
  }

  /// The place in the translation of what begins with `text` in the source.
  size_t gap_of(int32_t parent, ByteRange text, WordInterval within) const {
    constexpr int kTried = 8;
    const ByteRange around = parent < 0 ? ByteRange{0, segment_.text.size()}
                                        : run_.items[static_cast<size_t>(parent)].text;
    const auto is_within = [&](const SourceLink& link) {
      return within.begin <= link.word && link.word < within.end &&
             link.source.begin >= around.begin && link.source.end <= around.end;
    };
    const auto begin = std::ranges::lower_bound(target_.links, text.begin, {},
                                                [](const SourceLink& l) { return l.source.begin; });
    auto link = begin;
    for (int tried = 0; link != target_.links.begin() && tried < kTried; ++tried)
      if (is_within(*--link)) return link->word + 1;
    link = begin;
    for (int tried = 0; link != target_.links.end() && tried < kTried; ++tried, ++link)
      if (is_within(*link)) return link->word;
    return within.begin;
  }

  const Segment& segment_;
  const Run& run_;
  TargetWords target_;
  const ItemTree tree_;
  std::vector<WordInterval> intervals_;
};

}  // namespace

std::vector<WordInterval> intervals_of(const Segment& segment, const Run& run, TargetWords target) {
  return IntervalFinder(segment, run, std::move(target)).find();
}

}  // namespace heed::document
