#include "heed/constrain/grammar_reader.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/constrain/hexadecimal.h"

namespace heed::constrain {

GrammarReader::GrammarReader(std::string_view text,
                             std::initializer_list<std::string_view> comments)
    : text_(text), comments_(comments) {
  require_utf8(text, "the grammar");
}

bool GrammarReader::skip(std::string_view text) {
  if (!sees(text)) return false;
  position_ += text.size();
  return true;
}

void GrammarReader::expect(std::string_view text) {
  if (!skip(text)) fail_here("expected " + std::string(text));
}

char32_t GrammarReader::next() {
  if (at_end()) fail_here("it ends too early");
  const CodePoint point = code_point_at(text_, position_);
  position_ += point.length;
  return point.value;
}

void GrammarReader::skip_space(bool line_ends) {
  const auto is_space = [&](char byte) {
    return byte == ' ' || byte == '\t' || (line_ends && (byte == '\n' || byte == '\r'));
  };
  while (!at_end()) {
    if (is_space(peek())) {
      ++position_;
    } else if (std::ranges::any_of(comments_, [&](std::string_view mark) { return sees(mark); })) {
      while (!at_end() && peek() != '\n' && peek() != '\r') ++position_;
    } else {
      return;
    }
  }
}

std::string_view GrammarReader::name(std::string_view others) {
  const size_t begin = position_;
  const auto is_part = [&](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || (byte != '\0' && others.find(byte) != others.npos);
  };
  while (is_part(peek())) ++position_;
  return text(begin, position_);
}

std::optional<uint32_t> GrammarReader::number() {
  uint64_t value = 0;
  const size_t begin = position_;
  for (; peek() >= '0' && peek() <= '9'; ++position_) {
    value = value * 10 + static_cast<uint64_t>(peek() - '0');
    if (value >= (uint64_t{1} << 31)) fail_at(begin, "the number is too large");
  }
  if (position_ == begin) return std::nullopt;
  return static_cast<uint32_t>(value);
}

bool GrammarReader::skip_alternative_mark() {
  const size_t begin = position_;
  skip_space(true);
  if (skip("|")) return true;
  position_ = begin;
  return false;
}

char32_t GrammarReader::hexadecimal(int digits) {
  const char32_t value = read_hexadecimal(*this, digits);
  if (value > CodePointSet::kLast) fail_here("a code point above 10FFFF");
  return value;
}

std::pair<uint32_t, uint32_t> GrammarReader::counts() {
  skip_space(false);
  const size_t begin = position_;
  const std::optional<uint32_t> min = number();
  std::optional<uint32_t> max = min;
  skip_space(false);
  const bool has_comma = skip(",");
  if (has_comma) {
    skip_space(false);
    max = number();
    skip_space(false);
  }
  if (!min && !max) fail_at(begin, "expected a number");
  expect("}");
  const std::pair result(min.value_or(0), max.value_or(Expressions::kUnbounded));
  if (result.first > result.second) fail_at(begin, "a repetition of at least more than at most");
  return result;
}

void GrammarReader::fail_at(size_t position, std::string_view problem) const {
  const std::string_view before = text_.substr(0, position);
  const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  fail("the grammar, line {}, column {}: {}", std::ranges::count(before, '\n') + 1,
       count_code_points(before.substr(line_begin)) + 1, problem);
}

}  // namespace heed::constrain
