#include "heed/document/placeholders.h"

#include <algorithm>
#include <array>
#include <string>

#include "heed/base/ascii.h"
#include "heed/base/utf8.h"
#include "heed/text/unicode/properties.h"

namespace heed::document {
namespace {

// Longer ones are no placeholders; the bounds make the search linear.
constexpr size_t kLongestName = 200, kLongestMessage = 1000, kLongestScheme = 20,
                 kLongestLocal = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_alphanumeric(char c) { return is_digit(c) || is_letter(c); }
bool is_in(char c, std::string_view set) { return set.find(c) != set.npos; }
bool is_part_of_word(char c) { return is_alphanumeric(c) || static_cast<uint8_t>(c) >= 0x80; }

/// Finds what begins at a byte of a text: functions return the size, or 0.
class PlaceholderReader {
 public:
  PlaceholderReader(std::string_view text, const PlaceholderRules& rules)
      : text_(text), rules_(rules) {}

  std::vector<Placeholder> read() {
    for (size_t at = 0; at < text_.size();) {
      const size_t begin = at;
      if (!add(code_at(at), begin, Placeholder::Kind::code, at) &&
          !add(address_at(at), begin, Placeholder::Kind::address, at) && !add_email(at) &&
          !add(number_at(at), begin, Placeholder::Kind::number, at))
        ++at;
    }
    return std::move(found_);
  }

 private:
  char get(size_t at) const { return at < text_.size() ? text_[at] : '\0'; }
  bool starts_word(size_t at) const {
    return at == 0 || (!found_.empty() && found_.back().range.end == at) ||
           !text::is_word(code_point_at(text_, code_point_begin(text_, at - 1)).value);
  }

  bool add(size_t size, size_t begin, Placeholder::Kind kind, size_t& at) {
    if (size == 0) return false;
    found_.push_back({{begin, begin + size}, kind});
    at = begin + size;
    return true;
  }

  size_t code_at(size_t at) const {
    const char c = text_[at];
    if (c == '%' && rules_.c_format) return conversion_at(at, true);
    if (c == '{' && rules_.braces) return braces_of_python(at);
    if (c == '}' && rules_.braces && get(at + 1) == '}') return 2;
    if (!rules_.common) return 0;
    if (c == '{') return braces_at(at);
    if (c == '$' && get(at + 1) == '{') return until(at, 2, "}", kLongestName);
    if (c == '%') return percent_at(at);
    return 0;
  }

  /// The bytes from `at` to the first `end` after `skipped` bytes.
  size_t until(size_t at, size_t skipped, std::string_view end, size_t longest) const {
    const std::string_view part = text_.substr(at, longest);
    const size_t found = part.find(end, skipped);
    if (found == part.npos || part.substr(0, found).find('\n') != part.npos) return 0;
    return found + end.size();
  }

  size_t name_size(size_t at) const {
    size_t end = at;
    while (is_alphanumeric(get(end)) || is_in(get(end), "_.-")) {
      if (get(end) == '\0') break;
      ++end;
    }
    return end - at;
  }

  size_t braces_of_python(size_t at) const {
    return get(at + 1) == '{' ? 2 : until(at, 1, "}", kLongestName);
  }

  size_t braces_at(size_t at) const {
    if (get(at + 1) == '{') {
      const size_t size = until(at, 2, "}}", kLongestName);
      return size > 0 && get(at + size) == '}' ? size + 1 : size;
    }
    if (get(at + 1) == '%') return until(at, 2, "%}", kLongestName);
    size_t end = at + 1;
    while (end < text_.size() && end - at < kLongestName &&
           (is_alphanumeric(text_[end]) || is_in(text_[end], "_.-:!,#@$[]<>+*^%=/")))
      ++end;
    if (get(end) == '}') return end + 1 - at;
    return message_at(at);
  }

  /// An argument of ICU's MessageFormat: {count, plural, one {# file} other {# files}}.
  size_t message_at(size_t at) const {
    static constexpr std::array<std::string_view, 9> kTypes{"plural", "select",  "selectordinal",
                                                            "number", "date",    "time",
                                                            "choice", "ordinal", "spellout"};
    size_t end = at + 1;
    const auto skip_spaces = [&] {
      while (get(end) == ' ') ++end;
    };
    skip_spaces();
    end += name_size(end);
    skip_spaces();
    if (get(end) != ',') return 0;
    ++end;
    skip_spaces();
    const size_t type = end;
    end += name_size(end);
    if (std::ranges::find(kTypes, text_.substr(type, end - type)) == kTypes.end()) return 0;
    int depth = 1;
    for (; end < text_.size() && end - at < kLongestMessage && text_[end] != '\n'; ++end) {
      depth += text_[end] == '{' ? 1 : text_[end] == '}' ? -1 : 0;
      if (depth == 0) return end + 1 - at;
    }
    return 0;
  }

  size_t percent_at(size_t at) const {
    if (get(at + 1) == '{') return until(at, 2, "}", kLongestName);
    const size_t conversion = conversion_at(at, false);
    const std::string_view read = text_.substr(at, conversion);
    if (read.find_first_of("$(@") != read.npos) return conversion;
    if (at > 0 && is_digit(text_[at - 1])) return 0;  // 5%
    const size_t name = is_letter(get(at + 1)) || get(at + 1) == '_' ? name_size(at + 1) : 0;
    if (name > 1 && name < kLongestName && get(at + 1 + name) == '%') return name + 2;
    if (conversion > 0) return is_alphanumeric(get(at + conversion)) ? 0 : conversion;
    size_t end = at + 1;  // Qt's %1 and %L1
    if (get(end) == 'L') ++end;
    if (!is_digit(get(end)) || get(end) == '0') return 0;
    end += is_digit(get(end + 1)) ? 2 : 1;
    return is_alphanumeric(get(end)) || get(end) == '$' ? 0 : end - at;
  }

  size_t conversion_at(size_t at, bool all) const {
    size_t end = at + 1;
    const auto skip = [&](std::string_view set) {
      while (end < text_.size() && end - at < kLongestName && is_in(text_[end], set)) ++end;
    };
    if (all && get(end) == '%') return 2;
    if (get(end) == '(') {
      const size_t name = until(at, 2, ")", kLongestName);
      if (name == 0) return 0;
      end = at + name;
    } else {
      skip("0123456789");
      if (get(end) == '$')
        ++end;
      else
        end = at + 1;
    }
    skip(all ? "-+0#' " : "-+0#'");
    skip("0123456789*");
    if (get(end) == '.') {
      ++end;
      skip("0123456789*");
    }
    skip("hlqLjzt");
    return get(end) != '\0' && is_in(get(end), "diouxXeEfFgGaAcspn@") ? end + 1 - at : 0;
  }

  size_t address_at(size_t at) const {
    if (!rules_.common || !is_letter(text_[at]) || !starts_word(at)) return 0;
    size_t end = at;
    while (end - at < kLongestScheme && (is_alphanumeric(get(end)) || is_in(get(end), "+-")) &&
           get(end) != '\0')
      ++end;
    if (text_.substr(end, 3) == "://")
      end += 3;
    else if (lower_case(text_.substr(at, 7)) == "mailto:")
      end = at + 7;
    else if (lower_case(text_.substr(at, 4)) == "www.")
      end = at + 4;
    else
      return 0;
    const size_t begin = end;
    end = end_of_address(end);
    return end == begin ? 0 : end - at;
  }

  /// An address ends before white space, quotes, and what is written without spaces.
  size_t end_of_address(size_t end) const {
    const size_t begin = end;
    int open = 0;
    while (end < text_.size() && !is_in(text_[end], " \t\r\n\f<>\"`")) {
      const CodePoint point = code_point_at(text_, end);
      if (point.value >= 0x2000) break;
      open += point.value == U'(' ? 1 : 0;
      if (point.value == U')' && --open < 0) break;
      end += point.length;
    }
    while (end > begin && is_in(text_[end - 1], ".,;:!?'\"]*_")) --end;
    return end;
  }

  bool add_email(size_t& at) {
    if (!rules_.common || text_[at] != '@') return false;
    const size_t first = found_.empty() ? 0 : found_.back().range.end;
    size_t begin = at;
    while (begin > first && at - begin < kLongestLocal &&
           (is_alphanumeric(text_[begin - 1]) || is_in(text_[begin - 1], "._+-")))
      --begin;
    while (begin < at && is_in(text_[begin], ".-+")) ++begin;
    size_t end = at + 1, dot = 0;
    while (end - at < kLongestName && get(end) != '\0' &&
           (is_alphanumeric(get(end)) || is_in(get(end), ".-"))) {
      if (get(end) == '.' && is_alphanumeric(get(end + 1))) dot = end;
      ++end;
    }
    while (end > at + 1 && is_in(text_[end - 1], ".-")) --end;
    if (begin == at || dot == 0 || dot >= end) return false;
    return add(end - begin, begin, Placeholder::Kind::address, at);
  }

  size_t number_at(size_t at) const {
    if (!rules_.numbers || !is_digit(text_[at]) || !starts_word(at)) return 0;
    size_t end = at;
    while (is_digit(get(end)) ||
           (is_in(get(end), ".,'") && get(end) != '\0' && is_digit(get(end + 1))))
      ++end;
    return is_part_of_word(get(end)) ? 0 : end - at;
  }

  const std::string_view text_;
  const PlaceholderRules& rules_;
  std::vector<Placeholder> found_;
};

}  // namespace

std::vector<Placeholder> find_placeholders(std::string_view text, const PlaceholderRules& rules) {
  return PlaceholderReader(text, rules).read();
}

std::string without_placeholder_characters(std::string_view text, const PlaceholderRules& rules) {
  std::string result(text);
  for (size_t i = 0; i < result.size(); ++i) {
    const bool of_scheme = text.substr(i, 3) == "://" || lower_case(text.substr(i, 7)) == "mailto:";
    const bool of_www = lower_case(text.substr(i, 4)) == "www.";
    if (is_in(result[i], "{}%$@") || of_scheme || of_www || (rules.numbers && is_digit(result[i])))
      result[i] = ' ';
  }
  return result;
}

}  // namespace heed::document
