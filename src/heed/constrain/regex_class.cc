#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "heed/base/quote.h"
#include "heed/constrain/hexadecimal.h"
#include "heed/constrain/regex_parser.h"

namespace heed::constrain {
namespace {

CodePointSet one(char32_t value) { return {{value, value}}; }

bool is_ascii_letter(char32_t value) {
  return (value >= 'a' && value <= 'z') || (value >= 'A' && value <= 'Z');
}

// ECMA-262, "WhiteSpace" and "LineTerminator"; Python's str.isspace().
CodePointSet white_space(bool is_python) {
  CodePointSet set = {{'\t', '\r'},     {' ', ' '},       {0xA0, 0xA0},
                      {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029},
                      {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};
  if (is_python) {
    set.add(0x1C, 0x1F);
    set.add(0x85, 0x85);
  } else {
    set.add(0xFEFF, 0xFEFF);
  }
  return set;
}

CodePointSet digits(bool is_python) {
  return is_python ? CodePointSet::category("Nd") : CodePointSet{{'0', '9'}};
}

CodePointSet word_characters(bool is_python) {
  CodePointSet set = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
  if (is_python) {
    set.add(CodePointSet::category("L"));
    set.add(CodePointSet::category("N"));
  }
  return set;
}

// \p{L}, \p{Letter}, \p{gc=Lu}, ...: general categories.
CodePointSet read_property(RegexReader& reader) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kLongNames = {
      {{"Letter", "L"},
       {"Uppercase_Letter", "Lu"},
       {"Lowercase_Letter", "Ll"},
       {"Mark", "M"},
       {"Number", "N"},
       {"Decimal_Number", "Nd"},
       {"Punctuation", "P"},
       {"Symbol", "S"},
       {"Separator", "Z"},
       {"Other", "C"}}};
  const size_t begin = reader.position();
  if (!reader.skip("{")) reader.fail_here("expected { after \\p");
  std::string name;
  while (!reader.skip("}")) {
    if (reader.at_end()) reader.fail_at(begin, "\\p{ without }");
    const char32_t value = reader.next();
    name += value < 0x80 ? static_cast<char>(value) : '?';
  }
  for (const std::string_view prefix : {"gc=", "General_Category="}) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  const auto known =
      std::ranges::find(kLongNames, name, [](const auto& each) { return each.first; });
  if (known != kLongNames.end()) name = known->second;
  if (name == "Any") return CodePointSet::all();
  if (name == "ASCII") return {{0, 0x7F}};
  if (name.size() > 2 || name.empty()) {
    reader.fail_at(begin, "of Unicode's properties only general categories are supported, not " +
                              quoted(name));
  }
  return CodePointSet::category(name);
}

std::optional<CodePointSet> class_escape(RegexReader& reader, char32_t letter) {
  const bool is_python = reader.is_python();
  switch (letter) {
    case 'd':
      return digits(is_python);
    case 'D':
      return digits(is_python).complement();
    case 'w':
      return word_characters(is_python);
    case 'W':
      return word_characters(is_python).complement();
    case 's':
      return white_space(is_python);
    case 'S':
      return white_space(is_python).complement();
    case 'p':
      return read_property(reader);
    case 'P':
      return read_property(reader).complement();
    default:
      return std::nullopt;
  }
}

// After \u. Two escapes of surrogates are one code point.
char32_t read_unicode_escape(RegexReader& reader) {
  if (!reader.is_python() && reader.skip("{")) {
    char32_t value = 0;
    do {
      value = value * 16 + read_hexadecimal(reader, 1);
      if (value > CodePointSet::kLast) reader.fail_here("a code point above 10FFFF");
    } while (!reader.skip("}"));
    return value;
  }
  const char32_t first = read_hexadecimal(reader, 4);
  if (first < 0xD800 || first > 0xDBFF) return first;
  const size_t behind = reader.position();
  if (reader.skip("\\u") && !reader.sees("{")) {
    const char32_t second = read_hexadecimal(reader, 4);
    if (second >= 0xDC00 && second <= 0xDFFF) {
      return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    }
  }
  reader.go_to(behind);
  return first;
}

char32_t character_escape(RegexReader& reader, char32_t letter) {
  switch (letter) {
    case 't':
      return '\t';
    case 'n':
      return '\n';
    case 'v':
      return '\v';
    case 'f':
      return '\f';
    case 'r':
      return '\r';
    case 'a':
      if (reader.is_python()) return '\a';
      break;
    case '0':
      if (!reader.at_end() && reader.sees("0")) break;
      return 0;
    case 'x':
      return read_hexadecimal(reader, 2);
    case 'u':
      return read_unicode_escape(reader);
    case 'U':
      if (reader.is_python()) return read_hexadecimal(reader, 8);
      break;
    case 'c':
      if (!reader.is_python() && !reader.at_end()) {
        const char32_t control = reader.next();
        if (is_ascii_letter(control)) return control % 32;
      }
      break;
    default:
      // The flag u allows fewer of them; they are common in published schemas.
      if (!is_ascii_letter(letter) && !(letter >= '0' && letter <= '9')) return letter;
  }
  reader.fail_here("an escape that is not supported");
}

// A member of a class: a set, or a single code point, which may begin a range.
struct ClassMember {
  CodePointSet set;
  std::optional<char32_t> single;
};

ClassMember read_member(RegexReader& reader) {
  const char32_t value = reader.next();
  if (value != '\\') return {one(value), value};
  const char32_t letter = reader.next();
  if (letter == 'b') return {one('\b'), '\b'};
  if (const std::optional<CodePointSet> set = class_escape(reader, letter)) return {*set, {}};
  const char32_t escaped = character_escape(reader, letter);
  return {one(escaped), escaped};
}

}  // namespace

CodePointSet read_dot(const RegexReader& reader) {
  if (reader.dot_is_any()) return CodePointSet::all();
  const CodePointSet line_ends =
      reader.is_python() ? one('\n') : CodePointSet{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};
  return line_ends.complement();
}

CodePointSet read_class(RegexReader& reader) {
  const size_t begin = reader.position();
  const bool is_negative = reader.skip("^");
  std::vector<CodePointSet::Range> ranges;
  // In Python a ] that comes first is a member.
  for (bool is_first = reader.is_python(); is_first || !reader.sees("]"); is_first = false) {
    if (reader.at_end()) reader.fail_at(begin, "[ without ]");
    const ClassMember first = read_member(reader);
    const size_t behind = reader.position();
    if (first.single && reader.skip("-") && !reader.sees("]") && !reader.at_end()) {
      const ClassMember last = read_member(reader);
      if (last.single) {
        if (*last.single < *first.single)
          reader.fail_at(behind, "a range that ends before it begins");
        ranges.push_back({*first.single, *last.single});
        continue;
      }
    }
    reader.go_to(behind);
    ranges.insert(ranges.end(), first.set.ranges().begin(), first.set.ranges().end());
  }
  reader.skip("]");
  CodePointSet set = CodePointSet::of(std::move(ranges));
  if (reader.ignores_case()) set = set.with_other_cases();
  return is_negative ? set.complement() : set;
}

CodePointSet read_escape(RegexReader& reader) {
  const char32_t letter = reader.next();
  if (const std::optional<CodePointSet> set = class_escape(reader, letter)) return *set;
  const CodePointSet set = one(character_escape(reader, letter));
  return reader.ignores_case() ? set.with_other_cases() : set;
}

}  // namespace heed::constrain
