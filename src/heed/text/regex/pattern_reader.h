#pragma once

#include <string>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/text/utf8.h"

namespace heed::text {

/// Reads a pattern, which is valid UTF-8, from front to back.
class PatternReader {
 public:
  /// Messages begin with `where`.
  PatternReader(std::string_view pattern, const std::string& where)
      : text_(pattern), where_(where) {}

  bool done() const { return position_ == text_.size(); }
  std::string_view rest() const { return text_.substr(position_); }

  /// The next code point; 0 at the end.
  char32_t peek() const { return done() ? 0 : code_point_at(text_, position_).value; }

  /// The same, and moves past it. Throws Error at the end.
  char32_t take() {
    if (done()) refuse("an unexpected end");
    const CodePoint point = code_point_at(text_, position_);
    position_ += point.length;
    return point.value;
  }

  bool take_if(std::string_view wanted) {
    if (!rest().starts_with(wanted)) return false;
    skip(wanted.size());
    return true;
  }

  void skip(size_t bytes) { position_ += bytes; }

  size_t position() const { return position_; }
  void go_back_to(size_t position) { position_ = position; }

  /// Throws Error: "... has `what` at byte ...".
  [[noreturn]] void refuse(const std::string& what) const {
    fail("{}: the regular expression {} has {} at byte {}", where_, quoted(text_), what, position_);
  }

 private:
  std::string_view text_;
  const std::string& where_;
  size_t position_ = 0;
};

}  // namespace heed::text
