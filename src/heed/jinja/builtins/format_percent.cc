#include <algorithm>
#include <charconv>
#include <cmath>

#include "heed/base/utf8.h"
#include "heed/jinja/builtins/format.h"
#include "heed/jinja/builtins/format_spec.h"
#include "heed/jinja/operators.h"
#include "heed/jinja/runtime.h"
#include "heed/jinja/values/html.h"
#include "heed/jinja/values/repr.h"

namespace heed::jinja {
namespace {

/// text % value
class PercentFormat {
 public:
  PercentFormat(Runtime& runtime, const Text& text, const Value& value)
      : runtime_(runtime), text_(text), bytes_(text.bytes), value_(value), out_(runtime.values) {
    if (value.is_tuple()) given_ = value.items();
  }

  Value run() {
    runtime_.step_bytes(2 * bytes_.size());
    while (at_ < bytes_.size()) {
      const size_t percent = std::min(bytes_.find('%', at_), bytes_.size());
      out_.append(text_, at_, percent);
      at_ = percent + 1;
      if (percent < bytes_.size()) directive(percent);
    }
    // A value that is not a tuple is the only argument. What can be indexed may remain unused.
    const bool indexable = value_.is_dict() || value_.is_list() || value_.is_undefined() ||
                           value_.as<Range>() != nullptr;
    const bool all = value_.is_tuple() ? used_ == given_.size() : used_ > 0 || named_ || indexable;
    if (!all) runtime_.fail("not all arguments converted during string formatting");
    return runtime_.text(out_.finish(text_.markup));
  }

 private:
  char next() const { return at_ < bytes_.size() ? bytes_[at_] : '\0'; }
  char take() {
    if (at_ == bytes_.size()) runtime_.fail("incomplete format");
    return bytes_[at_++];
  }
  Value argument() {
    if (value_.is_tuple()) {
      if (used_ == given_.size()) runtime_.fail("not enough arguments for format string");
      return given_[used_++];
    }
    if (used_++ > 0) runtime_.fail("not enough arguments for format string");
    return value_;
  }

  /// (name), width and precision as a number or "*".
  Value named_argument() {
    const size_t begin = at_;
    for (int depth = 1; depth > 0;) {
      const char c = take();
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
    if (!value_.is_dict()) runtime_.fail("format requires a mapping");
    named_ = true;
    const Value* found = value_.dict().find(bytes_.substr(begin, at_ - begin - 1));
    if (found == nullptr) runtime_.fail("the format names a key that the mapping has not");
    return *found;
  }
  int64_t number() {
    if (next() == '*') {
      ++at_;
      const auto given = argument().integer();
      if (!given) runtime_.fail("* wants int");
      return *given;
    }
    int64_t value = 0;
    const char* begin = bytes_.data() + at_;
    const char* end = std::from_chars(begin, bytes_.data() + bytes_.size(), value).ptr;
    if (next() == '-') return 0;
    at_ += static_cast<size_t>(end - begin);
    return value;
  }

  void directive(size_t percent) {
    Value given;
    if (next() == '(') {
      ++at_;
      given = named_argument();
    }
    FormatSpec spec;
    bool left = false, zero = false;
    for (; std::string_view("-+ #0").find(next()) != std::string_view::npos && at_ < bytes_.size();
         ++at_) {
      left = left || next() == '-';
      zero = zero || next() == '0';
      if (next() == '+' || (next() == ' ' && spec.sign == '-')) spec.sign = next();
      spec.alternate = spec.alternate || next() == '#';
    }
    spec.width = number();
    if (spec.width < 0) {
      left = true;
      spec.width = -std::max(spec.width, -std::numeric_limits<int64_t>::max());
    }
    if (next() == '.') {
      ++at_;
      spec.precision = std::max<int64_t>(number(), 0);
    }
    while (next() == 'h' || next() == 'l' || next() == 'L') ++at_;
    spec.type = take();
    spec.align = left ? '<' : '>';
    if (spec.type == '%') return out_.append("%", is_marked(percent));
    if (given.is_missing()) given = argument();
    convert(given, spec, zero && !left);
  }
  bool is_marked(size_t at) const {
    return std::any_of(text_.input.begin(), text_.input.end(),
                       [&](const Span& span) { return span.begin <= at && at < span.end; });
  }

  void convert(const Value& given, FormatSpec spec, bool zero) {
    check_format_spec(runtime_, spec);
    switch (spec.type) {
      case 's':
      case 'r':
      case 'a':
        return convert_text(given, spec);
      case 'c':
        return convert_character(given, spec);
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        return convert_integer(given, spec, zero);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        break;
      default:
        runtime_.fail("unsupported format character");
    }
    if (given.is_undefined()) fail_undefined(runtime_, given);
    if (!given.is_number()) runtime_.fail("must be real number, not {}", type_name(given));
    if (zero) spec.fill = "0", spec.align = '=';
    out_.append(format_number(runtime_, Value(*given.number()), spec));
  }

  void convert_text(const Value& given, const FormatSpec& spec) {
    if (spec.type == 'a') runtime_.fail("the format %a is not supported");
    TextBuilder builder(runtime_.values);
    if (spec.type == 's')
      append_str(runtime_, builder, given);
    else
      append_repr(runtime_, builder, given);
    // Markup escapes what it is given.
    const Text whole = builder.finish(given.is_text() && given.text().markup);
    pad(whole, spec);
  }
  void convert_character(const Value& given, const FormatSpec& spec) {
    if (given.is_text() && given.text().length == 1) return pad(given.text(), spec);
    const auto code = given.integer();
    if (!code || *code < 0 || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000))
      runtime_.fail("%c requires int or char");
    std::string character;
    append_utf8(character, static_cast<char32_t>(*code));
    TextBuilder builder(runtime_.values);
    builder.append(character);
    pad(builder.finish(), spec);
  }
  void pad(const Text& whole, const FormatSpec& spec) {
    const size_t length = spec.precision < 0
                              ? whole.length
                              : std::min(whole.length, static_cast<size_t>(spec.precision));
    const size_t padding =
        static_cast<size_t>(spec.width) > length ? static_cast<size_t>(spec.width) - length : 0;
    const std::string spaces(padding, ' ');
    if (spec.align == '>') out_.append(spaces);
    TextBuilder cut(runtime_.values);
    cut.append(whole, 0, whole.byte_of(length));
    const Text part = cut.finish(whole.markup);
    if (text_.markup)
      append_escaped(out_, part);
    else
      out_.append(part);
    if (spec.align == '<') out_.append(spaces);
  }

  void convert_integer(const Value& given, FormatSpec spec, bool zero) {
    if (given.is_undefined()) fail_undefined(runtime_, given);
    const bool decimal = spec.type == 'd' || spec.type == 'i' || spec.type == 'u';
    if (!given.is_number() || (!decimal && given.is_float()))
      runtime_.fail("%{} format: a number is required, not {}", spec.type, type_name(given));
    if (decimal) spec.type = 'd';
    const Value whole =
        given.is_float() ? Value(integer_of(runtime_, given.real())) : Value(*given.integer());
    const int64_t digits = spec.precision;
    spec.precision = -1;
    if (digits >= 0) {  // the least number of digits
      const std::string plain = format_digits(runtime_, whole, spec);
      const auto missing = std::max<int64_t>(digits - static_cast<int64_t>(plain.size()), 0);
      if (missing > 0) return append_with_zeros(whole, spec, static_cast<size_t>(missing), plain);
    }
    if (zero) spec.fill = "0", spec.align = '=';
    out_.append(format_number(runtime_, whole, spec));
  }
  void append_with_zeros(const Value& whole, const FormatSpec& spec, size_t zeros,
                         const std::string& digits) {
    const std::string sign = *whole.integer() < 0 ? "-"
                             : spec.sign == '-'   ? ""
                                                  : std::string(1, spec.sign);
    TextBuilder builder(runtime_.values);
    builder.append(sign + std::string(zeros, '0') + digits);
    pad(builder.finish(), spec);
  }

  Runtime& runtime_;
  const Text& text_;
  std::string_view bytes_;
  const Value& value_;
  std::vector<Value> given_;
  TextBuilder out_;
  size_t at_ = 0, used_ = 0;
  bool named_ = false;
};

}  // namespace

Value format_percent(Runtime& runtime, const Text& text, const Value& value) {
  return PercentFormat(runtime, text, value).run();
}

}  // namespace heed::jinja
