#include "heed/document/sentences/list_items.h"

namespace heed::document {

ListItems::Number ListItems::read(size_t position) const {
  constexpr std::u32string_view kBullets = U"•⁃‣·▪◦●";
  constexpr int64_t kMost = 999;
  Number found;
  size_t at = position;
  if (at < line_end_ && kBullets.find(text_.at(at)) != kBullets.npos) {
    at = text_.next(at);
    found.bullet = text_.bytes().substr(position, at - position);
    at = text_.skip_spaces(at, line_end_);
  }
  const std::string_view bytes = text_.bytes().substr(0, line_end_);
  if (at + 1 < bytes.size() && bytes[at] >= 'a' && bytes[at] <= 'z') {
    found.letter = true;
    found.value = bytes[at++] - 'a' + 1;
  }
  while (!found.letter && at < bytes.size() && bytes[at] >= '0' && bytes[at] <= '9' &&
         found.value <= kMost)
    found.value = 10 * found.value + (bytes[at++] - '0');
  const size_t suffix = at;
  while (at < bytes.size() && at < suffix + 2 && (bytes[at] == '.' || bytes[at] == ')')) ++at;
  found.suffix = bytes.substr(suffix, at - suffix);
  if (found.value == 0 || found.value > kMost || found.suffix.empty() || at == bytes.size() ||
      text_.break_at(at) != SentenceBreak::space)
    return {};
  found.end = at;
  return found;
}

size_t ListItems::begin_sentence(size_t start) {
  const Number number = read(start);
  if (number.end == 0) return start;
  const bool begins =
      !number.bullet.empty() || (number.value == 1 && (number.suffix != "." || !ordinals_));
  if (!begins && !is_next_item(start)) return start;
  last_ = number;
  return number.end;
}

bool ListItems::is_next_item(size_t position) const {
  if (last_.end == 0) return false;
  const Number number = read(position);
  return number.end > 0 && number.value == last_.value + 1 && number.letter == last_.letter &&
         number.suffix == last_.suffix && number.bullet == last_.bullet;
}

}  // namespace heed::document
