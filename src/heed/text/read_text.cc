#include "heed/text/read_text.h"

#include "heed/text/utf8.h"

namespace heed::text {

ReadText::ReadText(std::string_view text, OffsetUnit unit) : text_(text) {
  if (!is_valid_utf8(text)) {
    replaced_ = with_replacements(text, &offsets_);
    text_ = replaced_;
  }
  if (unit == OffsetUnit::bytes) return;
  offsets_.clear();
  size_t before = 0;
  for (const char byte : text_) {
    const bool first = !is_continuation(byte);
    offsets_.push_back(first ? before : before - 1);
    before += first ? 1 : 0;
  }
  offsets_.push_back(before);
}

TextSpan ReadText::offsets_of(TextSpan span) const {
  return offsets_.empty() ? span : TextSpan{offsets_[span.begin], offsets_[span.end]};
}

}  // namespace heed::text
