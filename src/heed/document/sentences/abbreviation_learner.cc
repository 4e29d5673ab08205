#include "heed/document/sentences/abbreviation_learner.h"

#include <algorithm>

#include "heed/document/sentences/sentence_break.h"

namespace heed::document {
namespace {

constexpr size_t kLongest = 24;  // bytes of an abbreviation

bool is_part_of_word(SentenceBreak kind) {
  using enum SentenceBreak;
  return kind == lower || kind == upper || kind == letter || kind == extend;
}

/// Behind the letters that begin at `position`, and the full stops between them.
size_t behind_word(const TextView& text, size_t position) {
  while (position < text.size()) {
    const size_t next = text.next(position);
    const bool inner_stop =
        text.at(position) == '.' && next < text.size() && is_part_of_word(text.break_at(next));
    if (!inner_stop && !is_part_of_word(text.break_at(position))) break;
    position = next;
  }
  return position;
}

}  // namespace

void AbbreviationLearner::read(std::string_view line) {
  const TextView text(line);
  for (size_t at = 0; at < line.size();) {
    const size_t end = behind_word(text, at);
    if (end == at) {
      at = text.next(at);
      continue;
    }
    if (end - at <= kLongest) {
      Counts& counts = words_[in_lower_case(line.substr(at, end - at))];
      if (end == line.size() || line[end] != '.') {
        ++counts.bare;
      } else {
        const size_t next = text.skip_spaces(end + 1, line.size());
        const SentenceBreak kind = next < line.size() ? text.break_at(next) : SentenceBreak::other;
        ++(kind == SentenceBreak::lower || kind == SentenceBreak::comma ? counts.inside
                                                                        : counts.other);
      }
    }
    at = end;
  }
}

std::vector<std::string> AbbreviationLearner::abbreviations() const {
  constexpr int64_t kFewest = 5;
  std::vector<std::string> found;
  for (const auto& [word, counts] : words_) {
    const int64_t stopped = counts.inside + counts.other;
    if (counts.inside >= kFewest && counts.inside >= counts.other && counts.bare * 4 <= stopped)
      found.push_back(word);
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace heed::document
