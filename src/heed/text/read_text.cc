#include "heed/text/read_text.h"

#include "heed/text/utf8.h"

namespace heed::text {

ReadText::ReadText(std::string_view text, OffsetUnit unit) : text_(text) {
  if (!is_valid_utf8(text)) {
    replaced_ = with_replacements(text, &places_);
    text_ = replaced_;
  }
  if (unit == OffsetUnit::bytes) return;
  places_.clear();
  size_t before = 0;
  for (const char byte : text_) {
    const bool first = (byte & 0xC0) != 0x80;
    places_.push_back(first ? before : before - 1);
    before += first ? 1 : 0;
  }
  places_.push_back(before);
}

TextSpan ReadText::place_of(TextSpan span) const {
  return places_.empty() ? span : TextSpan{places_[span.begin], places_[span.end]};
}

}  // namespace heed::text
