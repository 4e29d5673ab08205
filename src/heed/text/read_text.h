#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/regex/regex.h"
#include "heed/tokenizer.h"

namespace heed::text {

/// A text of any bytes as a tokenizer reads it, and where its parts are in what a caller gave.
class ReadText {
 public:
  /// `text` must outlive it.
  ReadText(std::string_view text, OffsetUnit unit);
  ReadText(const ReadText&) = delete;
  ReadText& operator=(const ReadText&) = delete;

  /// Valid UTF-8: as with_replacements() gives it.
  std::string_view text() const { return text_; }
  /// The place of bytes of text(): of bytes in what the caller gave, or of code points.
  TextSpan offsets_of(TextSpan span) const;

 private:
  std::string replaced_;
  std::string_view text_;
  std::vector<size_t> offsets_;  // of each byte of text_ and of its end; empty: their own
};

}  // namespace heed::text
