#include "heed/jinja/parser/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "heed/base/quote.h"
#include "heed/base/utf8.h"
#include "heed/jinja/parser/string_literal.h"
#include "heed/jinja/values/unicode.h"

namespace heed::jinja {
namespace {

bool is_digit_of(char c, int base) {
  const int value = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : 99;
  return value < base;
}

/// Line ends become "\n"; one at the very end is removed.
std::string normalized(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    const bool pair = source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n';
    if (!pair) text += source[i] == '\r' ? '\n' : source[i];
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  Lexer(std::string source, const std::string& name)
      : source_(std::move(source)), text_(source_), location_{.name = name} {}

  std::vector<Token> run() {
    while (at_ < text_.size()) read_text();
    add(Token::Kind::end);
    return std::move(tokens_);
  }

 private:
  void add(Token::Kind kind, std::string text = {}) {
    tokens_.push_back({.kind = kind, .line = location_.line, .text = std::move(text)});
  }
  bool at(std::string_view wanted) const { return text_.substr(at_).starts_with(wanted); }
  /// Moves over `count` bytes and counts their lines.
  void advance(size_t count) {
    const std::string_view passed = text_.substr(at_, count);
    location_.line += static_cast<int>(std::count(passed.begin(), passed.end(), '\n'));
    line_starting_ = passed.empty() ? line_starting_ : passed.back() == '\n';
    at_ += passed.size();
  }
  /// The position after the white space at `from`.
  size_t after_space(size_t from) const {
    while (from < text_.size()) {
      const CodePoint point = code_point_at(text_, from);
      if (!is_space(point.value)) break;
      from += point.length;
    }
    return from;
  }
  /// `text` as it is left of a tag with `sign` ('-', '+' or 0).
  std::string_view left_of_tag(std::string_view text, char sign, bool variable) const {
    if (sign == '-') return without_trailing_space(text);
    if (sign == '+' || variable) return text;
    const size_t line = text.rfind('\n') + 1;  // npos + 1 == 0
    if (line == 0 && !line_starting_) return text;
    return after_space(static_cast<size_t>(text.data() - text_.data()) + line) >=
                   static_cast<size_t>(text.data() - text_.data()) + text.size()
               ? text.substr(0, line)
               : text;
  }

  /// Where the next tag begins, or the end of the text.
  size_t find_tag() const {
    size_t tag = text_.find('{', at_);
    while (tag != std::string_view::npos) {
      const char next = tag + 1 < text_.size() ? text_[tag + 1] : '\0';
      if (next == '{' || next == '%' || next == '#') return tag;
      tag = text_.find('{', tag + 1);
    }
    return text_.size();
  }

  void read_text() {
    const size_t tag = find_tag();
    const std::string_view text = text_.substr(at_, tag - at_);
    if (tag == text_.size()) {
      add(Token::Kind::text, std::string(text));
      return advance(text.size());
    }
    const char kind = text_[tag + 1];
    const char after = tag + 2 < text_.size() ? text_[tag + 2] : '\0';
    const char sign = after == '-' || after == '+' ? after : '\0';
    const std::string_view kept = left_of_tag(text, sign, kind == '{');
    if (!kept.empty()) add(Token::Kind::text, std::string(kept));
    advance(text.size());
    const size_t opening = sign != '\0' ? 3 : 2;
    if (kind == '#') return read_comment(opening);
    if (const size_t raw = raw_tag(opening); kind == '%' && raw > 0) return read_raw(raw);
    read_tag(kind == '{', opening);
  }

  void read_comment(size_t opening) {
    const size_t begin = at_ + opening;
    const size_t end = text_.find("#}", begin);
    if (end == std::string_view::npos) location_.fail("Missing end of comment tag");
    const char sign = end > begin ? text_[end - 1] : '\0';
    advance(after_tag(end + 2, sign) - at_);
  }

  /// Where the text goes on after a tag that ends at `end`, after `sign`: '-' removes white space,
  /// '+' nothing, and else one line end is removed.
  size_t after_tag(size_t end, char sign) const {
    if (sign == '-') return after_space(end);
    return sign != '+' && end < text_.size() && text_[end] == '\n' ? end + 1 : end;
  }

  /// The length of a tag {% raw %} here, or 0.
  size_t raw_tag(size_t opening) const {
    size_t end = after_space(at_ + opening);
    if (!text_.substr(end).starts_with("raw")) return 0;
    end = after_space(end + 3);
    if (text_.substr(end).starts_with("-%}")) return after_space(end + 3) - at_;
    return text_.substr(end).starts_with("%}") ? end + 2 - at_ : 0;
  }

  void read_raw(size_t opening) {
    advance(opening);
    for (size_t tag = text_.find("{%", at_); tag != std::string_view::npos;
         tag = text_.find("{%", tag + 2)) {
      size_t end = tag + 2;
      const char first = end < text_.size() ? text_[end] : '\0';
      const char sign = first == '-' || first == '+' ? first : '\0';
      end = after_space(end + (sign != '\0' ? 1 : 0));
      if (!text_.substr(end).starts_with("endraw")) continue;
      end = after_space(end + 6);
      const char last = end < text_.size() ? text_[end] : '\0';
      if (last == '-' || last == '+') ++end;
      if (!text_.substr(end).starts_with("%}")) continue;
      const std::string_view kept = left_of_tag(text_.substr(at_, tag - at_), sign, false);
      if (!kept.empty()) add(Token::Kind::text, std::string(kept));
      return advance(after_tag(end + 2, last) - at_);
    }
    location_.fail("Missing end of raw directive");
  }

  void read_tag(bool variable, size_t opening) {
    add(variable ? Token::Kind::variable_begin : Token::Kind::block_begin);
    advance(opening);
    brackets_.clear();
    while (!read_tag_end(variable)) {
      if (at_ == text_.size()) {
        location_.fail("unexpected end of template in a tag");
      } else if (const size_t space = after_space(at_); space > at_) {
        advance(space - at_);
      } else if (!read_number() && !read_name() && !read_string() && !read_operator()) {
        const size_t length = code_point_at(text_, at_).length;
        location_.fail("unexpected char {}", quoted(text_.substr(at_, length)));
      }
    }
  }

  /// Reads "%}" or "}}" with its sign, unless it is inside of brackets.
  bool read_tag_end(bool variable) {
    if (!brackets_.empty()) return false;
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    const char sign = first == '-' || (first == '+' && !variable) ? first : '\0';
    const size_t begin = at_ + (sign != '\0' ? 1 : 0);
    if (!text_.substr(begin).starts_with(variable ? "}}" : "%}")) return false;
    add(variable ? Token::Kind::variable_end : Token::Kind::block_end);
    // After a variable a line end stays.
    advance((variable && sign == '\0' ? begin + 2 : after_tag(begin + 2, sign)) - at_);
    return true;
  }

  /// The end of digits with single underscores between them; `from` if there are none.
  size_t after_digits(size_t from, int base) const {
    size_t end = from;
    while (end < text_.size()) {
      const size_t digit = end > from && text_[end] == '_' ? end + 1 : end;
      if (digit >= text_.size() || !is_digit_of(text_[digit], base)) break;
      end = digit + 1;
    }
    return end;
  }

  bool read_number() { return read_real() || read_integer(); }

  bool read_real() {
    const size_t whole = after_digits(at_, 10);
    if (whole == at_ || (at_ > 0 && text_[at_ - 1] == '.')) return false;
    size_t end = whole;
    if (end < text_.size() && text_[end] == '.') {
      const size_t fraction = after_digits(end + 1, 10);
      if (fraction > end + 1) end = fraction;
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      size_t digits = end + 1;
      if (digits < text_.size() && (text_[digits] == '+' || text_[digits] == '-')) ++digits;
      const size_t exponent = after_digits(digits, 10);
      if (exponent > digits) end = exponent;
    }
    if (end == whole) return false;
    add(Token::Kind::real, without_underscores(end));
    const std::string& digits = tokens_.back().text;
    // Beyond the range of double, strtod gives infinity or zero as Python does.
    tokens_.back().real = std::strtod(digits.c_str(), nullptr);
    advance(end - at_);
    return true;
  }

  bool read_integer() {
    if (!is_digit_of(text_[at_], 10)) return false;
    const char letter = text_[at_] == '0' && at_ + 1 < text_.size()
                            ? static_cast<char>(text_[at_ + 1] | 0x20)
                            : '\0';
    const int base = letter == 'b' ? 2 : letter == 'o' ? 8 : letter == 'x' ? 16 : 10;
    size_t begin = base == 10 ? at_ : at_ + 2;
    if (base != 10 && begin < text_.size() && text_[begin] == '_') ++begin;
    size_t end = after_digits(begin, base);
    if (base != 10 && end == begin) return read_decimal(at_ + 1);  // "0x" is 0 and a name
    if (base == 10) return read_decimal(text_[at_] == '0' ? after_zeros() : end);
    return add_integer(without_underscores(end).substr(2), base, end);
  }
  size_t after_zeros() const {
    const size_t end = after_digits(at_, 10);
    const size_t zeros = text_.find_first_not_of("0_", at_);
    size_t stop = std::min({end, zeros, text_.size()});
    while (text_[stop - 1] == '_') --stop;
    return stop;
  }
  bool read_decimal(size_t end) { return add_integer(without_underscores(end), 10, end); }
  bool add_integer(const std::string& digits, int base, size_t end) {
    add(Token::Kind::integer, digits);
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), tokens_.back().integer, base);
    if (error != std::errc()) location_.fail("{} does not fit into 64 bits", quoted(digits));
    advance(end - at_);
    return true;
  }
  std::string without_underscores(size_t end) const {
    std::string digits(text_.substr(at_, end - at_));
    std::erase(digits, '_');
    return digits;
  }

  bool read_name() {
    size_t end = at_;
    while (end < text_.size()) {
      const CodePoint point = code_point_at(text_, end);
      const bool letter = point.value == '_' || is_alnum(point.value);
      if (!letter || (end == at_ && is_numeric(point.value))) break;
      end += point.length;
    }
    if (end == at_) return false;
    add(Token::Kind::name, std::string(text_.substr(at_, end - at_)));
    advance(end - at_);
    return true;
  }

  bool read_string() {
    const char quote = text_[at_];
    if (quote != '\'' && quote != '"') return false;
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) return false;
    add(Token::Kind::string, unescape(text_.substr(at_ + 1, end - at_ - 1), location_));
    advance(end + 1 - at_);
    return true;
  }

  bool read_operator() {
    constexpr std::array<std::string_view, 26> kOperators{
        "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
        "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
    const auto* const op = std::find_if(kOperators.begin(), kOperators.end(),
                                        [&](std::string_view wanted) { return at(wanted); });
    if (op == kOperators.end()) return false;
    balance((*op)[0]);
    add(Token::Kind::op, std::string(*op));
    advance(op->size());
    return true;
  }
  void balance(char c) {
    if (c == '{') brackets_ += '}';
    if (c == '(') brackets_ += ')';
    if (c == '[') brackets_ += ']';
    if (c != '}' && c != ')' && c != ']') return;
    if (brackets_.empty()) location_.fail("unexpected '{}'", c);
    if (brackets_.back() != c)
      location_.fail("unexpected '{}', expected '{}'", c, brackets_.back());
    brackets_.pop_back();
  }

  std::string source_;
  std::string_view text_;
  size_t at_ = 0;
  bool line_starting_ = true;
  std::string brackets_;  // closing brackets that are expected
  SourceLocation location_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source, const std::string& name) {
  const SourceLocation whole{.name = name};
  if (!is_valid_utf8(source)) whole.fail("the template is not valid UTF-8");
  return Lexer(normalized(source), name).run();
}

}  // namespace heed::jinja
