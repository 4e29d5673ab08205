#include "heed/document/kept_parts.h"

#include <algorithm>
#include <string>

#include "heed/base/ascii.h"
#include "heed/base/utf8.h"
#include "heed/text/unicode/properties.h"

namespace heed::document {
namespace {

// Shorter names occur as other words if case does not count.
constexpr size_t kLooseLength = 4;

/// White space and case may have changed.
std::string loose(std::string_view text) {
  std::string result = lower_case(text);
  std::erase_if(result, [](char c) { return kWhiteSpace.find(c) != kWhiteSpace.npos; });
  return result;
}

class KeptPartFinder {
 public:
  KeptPartFinder(const Segment& segment, const Run& run, std::string_view text)
      : segment_(segment),
        run_(run),
        text_(text),
        placeholders_(find_placeholders(text, run.rules.placeholders)),
        source_placeholders_(find_placeholders(segment.text, run.rules.placeholders)),
        budget_(256 * text.size() + (size_t{1} << 16)) {}

  KeptParts find(bool is_aligned) {
    find_others(!is_aligned);
    find_exact_placeholders();
    find_loose_placeholders();
    for (const ByteRange range : surplus_) add(range, TargetWord::kDropped);
    return std::move(found_);
  }

 private:
  std::string_view source(ByteRange range) const {
    return std::string_view(segment_.text).substr(range.begin, range.end - range.begin);
  }

  /// translate="no", code and the like, at the borders of words. Those that are not there may
  /// be `with_other_case`.
  void find_others(bool with_other_case) {
    std::map<std::string, size_t, std::less<>> searched_to, lower_searched_to;
    std::string lower;
    for (size_t i = 0; i < run_.items.size(); ++i) {
      const Inline& item = run_.items[i];
      const std::string name(source(item.text));
      if (item.kind != Inline::Kind::kept || item.placeholder || name.empty()) continue;
      if (find_whole(text_, name, i, searched_to[name])) continue;
      if (!with_other_case || name.size() < kLooseLength) continue;
      if (lower.empty()) lower = lower_case(text_);
      const std::string lower_name = lower_case(name);
      find_whole(lower, lower_name, i, lower_searched_to[lower_name]);
    }
  }

  /// Looks for a part as whole words, from byte `from` on, which moves.
  bool find_whole(std::string_view text, std::string_view name, size_t item, size_t& from) {
    while (from != text.npos && budget_ >= text.size()) {
      budget_ -= text.size() - std::min(from, text.size());
      const size_t at = text.find(name, from);
      from = at == text.npos ? at : at + name.size();
      if (at != text.npos && is_whole({at, from}, run_.items[item].text) &&
          add({at, from}, static_cast<int32_t>(item)))
        return true;
    }
    return false;
  }

  /// Whether no word and no placeholder reaches over a border of a range, unless one did in the
  /// source.
  bool is_whole(ByteRange range, ByteRange from) const {
    const auto is_within = [](std::string_view text, const std::vector<Placeholder>& placeholders,
                              size_t at) {
      return is_within_word(text, at) || is_within_placeholder(placeholders, at);
    };
    const auto may_end = [&](size_t at, size_t source_at) {
      return !is_within(text_, placeholders_, at) ||
             is_within(segment_.text, source_placeholders_, source_at);
    };
    return may_end(range.begin, from.begin) && may_end(range.end, from.end);
  }

  static bool is_within_word(std::string_view text, size_t at) {
    return at > 0 && at < text.size() && text::is_word(code_point_at(text, at).value) &&
           text::is_word(code_point_at(text, code_point_begin(text, at - 1)).value);
  }

  static bool is_within_placeholder(const std::vector<Placeholder>& placeholders, size_t at) {
    const auto p = std::ranges::upper_bound(placeholders, at, {},
                                            [](const Placeholder& q) { return q.range.end; });
    return p != placeholders.end() && p->range.begin < at;
  }

  void find_exact_placeholders() {
    for (size_t i = run_.items.size(); i-- > 0;)
      if (run_.items[i].placeholder)
        wanted_[std::string(source(run_.items[i].text))].push_back(static_cast<int32_t>(i));
    for (Placeholder& found : placeholders_) {
      const auto item = find_wanted(found);
      if (item == wanted_.end()) {
        if (found.kind == Placeholder::Kind::code && !run_.rules.escapes_placeholders)
          surplus_.push_back(found.range);
      } else if (item->second.empty()) {
        surplus_.push_back(found.range);
      } else if (add(found.range, item->second.back())) {
        item->second.pop_back();
      }
    }
  }

  using Wanted = std::map<std::string, std::vector<int32_t>, std::less<>>;

  /// The part that was found; `found` shrinks to it if it is an address that something else
  /// touches.
  Wanted::iterator find_wanted(Placeholder& found) {
    constexpr int kTried = 8;
    std::string_view name = text_.substr(found.range.begin, found.range.end - found.range.begin);
    auto item = wanted_.find(name);
    if (item != wanted_.end() || found.kind != Placeholder::Kind::address) return item;
    for (size_t dot = name.find('.'); dot < name.find('@'); dot = name.find('.', dot + 1)) {
      item = wanted_.find(name.substr(dot + 1));
      if (item == wanted_.end()) continue;
      found.range.begin += dot + 1;
      return item;
    }
    item = wanted_.upper_bound(name);
    for (int tried = 0; item != wanted_.begin() && tried < kTried; ++tried) {
      if (!name.starts_with((--item)->first)) continue;
      found.range.end = found.range.begin + item->first.size();
      return item;
    }
    return wanted_.end();
  }

  /// Placeholders that the translation has with other spaces or case: "% 1 $ S".
  void find_loose_placeholders() {
    std::string squeezed;
    std::vector<size_t> places;
    for (const auto& [name, items] : wanted_) {
      if (items.empty() || name.size() < 2) continue;
      if (squeezed.empty()) {
        for (size_t i = 0; i < text_.size(); ++i)
          if (kWhiteSpace.find(text_[i]) == kWhiteSpace.npos) places.push_back(i);
        squeezed = loose(text_);
      }
      // "%" of a text is "%%" in a format.
      const bool doubled = run_.rules.escapes_placeholders && name[0] == name[1];
      const std::string searched = doubled ? name.substr(1) : loose(name);
      size_t from = 0;
      for (size_t left = items.size(); left > 0 && budget_ >= squeezed.size();) {
        budget_ -= squeezed.size() - std::min(from, squeezed.size());
        const size_t at = squeezed.find(searched, from);
        if (at == squeezed.npos) break;
        from = at + searched.size();
        if (add({places[at], places[from - 1] + 1}, items[left - 1])) --left;
      }
    }
  }

  /// False if something that was found before is there.
  bool add(ByteRange range, int32_t item) {
    const auto next = found_.lower_bound(range.begin);
    if (next != found_.end() && next->first < range.end) return false;
    if (next != found_.begin() && std::prev(next)->second.range.end > range.begin) return false;
    found_.emplace(range.begin, TargetWord{range, item});
    return true;
  }

  const Segment& segment_;
  const Run& run_;
  const std::string_view text_;
  std::vector<Placeholder> placeholders_;
  const std::vector<Placeholder> source_placeholders_;
  size_t budget_;  // bytes to search, so that many parts take linear time
  Wanted wanted_;
  std::vector<ByteRange> surplus_;  // placeholders that must not be there
  KeptParts found_;
};

}  // namespace

KeptParts find_kept_parts(const Segment& segment, const Run& run, std::string_view text,
                          bool is_aligned) {
  return KeptPartFinder(segment, run, text).find(is_aligned);
}

}  // namespace heed::document
