#include <algorithm>
#include <charconv>

#include "heed/base/quote.h"
#include "heed/jinja/builtins/attributes.h"
#include "heed/jinja/builtins/format.h"
#include "heed/jinja/builtins/format_spec.h"
#include "heed/jinja/runtime.h"
#include "heed/jinja/values/html.h"
#include "heed/jinja/values/repr.h"

namespace heed::jinja {
namespace {

/// text.format(...)
class BraceFormat {
 public:
  BraceFormat(Runtime& runtime, const Text& text, const Arguments& arguments)
      : runtime_(runtime), text_(text), arguments_(arguments) {}

  Text run() {
    runtime_.step_bytes(2 * text_.bytes.size());
    TextBuilder out(runtime_.values);
    write(out, 0, text_.bytes.size(), 2);
    return out.finish(text_.markup);
  }

 private:
  /// Formats bytes [at, end); `levels` of fields in fields are left.
  void write(TextBuilder& out, size_t at, size_t end, int levels) {
    const std::string& bytes = text_.bytes;
    if (levels == 0) runtime_.fail("Max string recursion exceeded");
    while (at < end) {
      const size_t brace = std::min(bytes.find_first_of("{}", at), end);
      out.append(text_, at, brace);
      if (brace == end) return;
      at = brace + 1;
      if (at < end && bytes[at] == bytes[brace]) {
        out.append(text_, brace, at);
        ++at;
      } else if (bytes[brace] == '}') {
        runtime_.fail("Single '}}' encountered in format string");
      } else {
        at = field(out, at, end, levels);
      }
    }
  }

  /// The field that begins at `at`, behind its brace. Returns the position behind it.
  size_t field(TextBuilder& out, size_t at, size_t end, int levels) {
    const std::string& bytes = text_.bytes;
    size_t close = at;
    for (int depth = 1; depth > 0; ++close) {
      if (close == end) runtime_.fail("expected '}}' before end of string");
      depth += bytes[close] == '{' ? 1 : bytes[close] == '}' ? -1 : 0;
    }
    const size_t last = close - 1;
    // The name ends at the first "!" or ":" outside of square brackets.
    size_t name_end = at;
    for (bool inside = false; name_end < last; ++name_end) {
      const char c = bytes[name_end];
      inside = (inside || c == '[') && c != ']';
      if (!inside && (c == '!' || c == ':')) break;
    }
    Value value = lookup(std::string_view(bytes).substr(at, name_end - at));
    size_t spec = name_end;
    if (spec < last && bytes[spec] == '!') {
      value = converted(value, spec + 1 < last ? bytes[spec + 1] : '\0');
      spec += 2;
      if (spec < last && bytes[spec] != ':')
        runtime_.fail("expected ':' after conversion specifier");
    }
    TextBuilder spec_text(runtime_.values);
    if (spec < last) write(spec_text, spec + 1, last, levels - 1);
    append_value(out, value, spec_text.finish());
    return close;
  }

  Value converted(const Value& value, char conversion) {
    if (conversion == 's') return str_of(runtime_, value);
    if (conversion != 'r') runtime_.fail("Unknown conversion specifier");
    TextBuilder out(runtime_.values);
    append_repr(runtime_, out, value);
    return runtime_.text(out.finish());
  }

  static std::optional<int64_t> as_index(std::string_view text) {
    int64_t index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    const bool all =
        !text.empty() && text[0] != '-' && error == std::errc() && end == text.data() + text.size();
    return all ? std::optional(index) : std::nullopt;
  }

  Value lookup(std::string_view name) {
    const size_t first = std::min(name.find_first_of(".["), name.size());
    Value value = argument(name.substr(0, first));
    for (size_t at = first; at < name.size();) {
      const bool attribute = name[at] == '.';
      const size_t begin = at + 1;
      const size_t end = std::min(
          attribute ? name.find_first_of(".[", begin) : name.find(']', begin), name.size());
      const std::string_view part = name.substr(begin, end - begin);
      if (part.empty()) runtime_.fail("Empty attribute in format string");
      if (attribute) {
        value = get_attribute(runtime_, value, part);
      } else {
        const auto index = as_index(part);
        value = get_item(runtime_, value, index ? Value(*index) : runtime_.text(part));
      }
      at = attribute ? end : end + 1;
      if (!attribute && at < name.size() && name[at] != '.' && name[at] != '[')
        runtime_.fail("Only '.' or '[' may follow ']' in format field specifier");
    }
    return value;
  }

  Value argument(std::string_view name) {
    const auto index = as_index(name);
    if (name.empty() || index) {
      if (automatic_ && *automatic_ != name.empty())
        runtime_.fail("cannot mix manual field specification and automatic field numbering");
      automatic_ = name.empty();
      const auto at = static_cast<size_t>(name.empty() ? next_++ : *index);
      if (at >= arguments_.positional.size())
        runtime_.fail("Replacement index {} out of range for positional args tuple", at);
      return arguments_.positional[at];
    }
    const Value* found = arguments_.keyword(name);
    if (found == nullptr)
      runtime_.fail("the format names an argument {} that is not given", quoted(name));
    return *found;
  }

  void append_value(TextBuilder& out, const Value& value, const Text& spec_text) {
    if (value.is_text()) return append_text(out, value.text(), spec_text.bytes);
    if (spec_text.bytes.empty()) return append_str(runtime_, out, value);
    const FormatSpec spec = parse_format_spec(runtime_, spec_text.bytes);
    if (!value.is_number())
      runtime_.fail("unsupported format string passed to {}.__format__", type_name(value));
    if (spec.type == 'c' || (value.is_bool() && spec.type == '\0'))
      runtime_.fail("this format of a number is not supported");
    if (value.integer() && spec.precision >= 0 &&
        std::string_view("\0bdoxXn", 7).find(spec.type) != std::string_view::npos)
      runtime_.fail("Precision not allowed in integer format specifier");
    if (std::string_view("\0bdoxXneEfFgG%", 14).find(spec.type) == std::string_view::npos)
      runtime_.fail("Unknown format code for a number");
    out.append(format_number(runtime_, value, spec));
  }

  void append_text(TextBuilder& out, const Text& text, std::string_view spec_text) {
    const FormatSpec spec = parse_format_spec(runtime_, spec_text);
    if ((spec.type != '\0' && spec.type != 's') || spec.sign != '-' || spec.alternate ||
        spec.grouping != '\0' || (spec.align == '=' && spec.fill != "0"))
      runtime_.fail("Invalid format specifier for a string");
    const size_t length = spec.precision < 0
                              ? text.length
                              : std::min(text.length, static_cast<size_t>(spec.precision));
    const size_t padding =
        static_cast<size_t>(spec.width) > length ? static_cast<size_t>(spec.width) - length : 0;
    const size_t left = spec.align == '>' ? padding : spec.align == '^' ? padding / 2 : 0;
    const auto pad = [&](size_t count) {
      for (size_t i = 0; i < count; ++i) out.append(spec.fill);
    };
    runtime_.step_bytes(text.bytes.size() + padding);
    pad(left);
    if (text_.markup)
      append_escaped(out, text);
    else
      out.append(text, 0, text.byte_of(length));
    pad(padding - left);
  }

  Runtime& runtime_;
  const Text& text_;
  const Arguments& arguments_;
  std::optional<bool> automatic_;  // fields are numbered automatically
  int64_t next_ = 0;
};

}  // namespace

Value format_braces(Runtime& runtime, const Text& text, const Arguments& arguments) {
  return runtime.text(BraceFormat(runtime, text, arguments).run());
}

}  // namespace heed::jinja
