#include "heed/text/regex/char_class.h"

#include "heed/base/reader_limits.h"
#include "heed/text/regex/ignore_case.h"
#include "heed/text/unicode/properties.h"
#include "heed/text/unicode/tables.h"

namespace heed::text {
namespace {

/// After \p or \P.
CodePointRanges read_property(PatternReader& reader, bool negated) {
  if (!reader.take_if("{")) reader.refuse("a \\p without its {name}");
  if (reader.take_if("^")) negated = !negated;
  const size_t end = reader.rest().find('}');
  if (end == std::string_view::npos) reader.refuse("a \\p{ without its }");
  const std::string_view name = reader.rest().substr(0, end);
  const auto set = property_named(name);
  if (!set) reader.refuse("\\p{" + one_line(name) + "}, an unknown property,");
  reader.skip(end + 1);
  return negated ? set->inverted() : *set;
}

char32_t read_hexadecimal(PatternReader& reader, int min, int max, bool brace) {
  uint64_t value = 0;
  int digits = 0;
  for (; digits < max && !reader.done(); ++digits) {
    const char32_t c = reader.peek();
    if (c >= '0' && c <= '9')
      value = value * 16 + (c - '0');
    else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
      value = value * 16 + ((c | 0x20) - 'a' + 10);
    else
      break;
    reader.take();
  }
  if (digits < min || value > CodePointRanges::kLast || (brace && !reader.take_if("}")))
    reader.refuse("a broken hexadecimal number");
  return static_cast<char32_t>(value);
}

class BracketReader {
 public:
  BracketReader(PatternReader& reader, bool ignore_case)
      : reader_(reader), ignore_case_(ignore_case) {}

  /// Sets separated by && up to the "]".
  CodePointRanges read() {
    if (++depth_ > limits::kMaxPatternDepth) reader_.refuse("classes nested too deeply");
    const bool negated = reader_.take_if("^");
    std::optional<CodePointRanges> all;
    CodePointRanges set;
    bool first = true;
    const auto end_part = [&] { all = all ? all->intersected(set) : set; };
    while (first || !reader_.take_if("]")) {
      if (reader_.done()) reader_.refuse("a class without a closing ]");
      if (reader_.take_if("&&")) {
        end_part();
        set = {};
      } else {
        add_item(set);
      }
      first = false;
    }
    end_part();
    --depth_;
    if (!negated) return *all;
    if (ignore_case_) add_other_cases(*all);
    return all->inverted();
  }

 private:
  void add_item(CodePointRanges& set) {
    if (reader_.rest().starts_with("[:")) reader_.refuse("a [:name:] class");
    if (reader_.take_if("[")) {
      set.add(read());
      return;
    }
    const auto begin = read_character(set);
    if (!begin) return;
    const std::string_view rest = reader_.rest();
    if (rest.size() < 2 || rest[0] != '-' || rest[1] == ']') {
      set.add(*begin, *begin);
      return;
    }
    reader_.take();
    CodePointRanges ignored;
    const auto end = read_character(ignored);
    if (!end || *end < *begin) reader_.refuse("a range that ends before it begins");
    set.add(*begin, *end);
  }

  /// A character, or nothing if it was a class such as \s, which is then in `set`.
  std::optional<char32_t> read_character(CodePointRanges& set) {
    const char32_t value = reader_.take();
    if (value != '\\') return value;
    if (const auto escaped = read_class_escape(reader_)) {
      set.add(*escaped);
      return std::nullopt;
    }
    if (reader_.take_if("b")) return '\b';
    return read_character_escape(reader_);
  }

  PatternReader& reader_;
  bool ignore_case_;
  int depth_ = 0;
};

}  // namespace

CodePointRanges read_bracket(PatternReader& reader, bool ignore_case) {
  return BracketReader(reader, ignore_case).read();
}

std::optional<CodePointRanges> read_class_escape(PatternReader& reader) {
  const char32_t letter = reader.peek();
  CodePointRanges set;
  switch (letter) {
    case 's':
    case 'S':
      set = CodePointRanges::from_table(tables::regex_space);
      break;
    case 'w':
    case 'W':
      set = CodePointRanges::from_table(tables::regex_word);
      break;
    case 'd':
    case 'D':
      set = *property_named("Nd");
      break;
    case 'h':
    case 'H':
      set.add('0', '9');
      set.add('A', 'F');
      set.add('a', 'f');
      break;
    case 'p':
    case 'P':
      reader.take();
      return read_property(reader, letter == 'P');
    default:
      return std::nullopt;
  }
  reader.take();
  return letter < 'a' ? set.inverted() : set;
}

char32_t read_character_escape(PatternReader& reader) {
  const char32_t letter = reader.take();
  switch (letter) {
    case 't':
      return '\t';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    case 'a':
      return '\a';
    case 'e':
      return 0x1B;
    case 'x':
      return reader.take_if("{") ? read_hexadecimal(reader, 1, 8, true)
                                 : read_hexadecimal(reader, 1, 2, false);
    case 'u':
      return read_hexadecimal(reader, 4, 4, false);
    case '0':
      return 0;
    default:
      break;
  }
  const bool is_plain =
      letter >= 0x80 || !((letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
                          (letter >= 'A' && letter <= 'Z'));
  if (!is_plain)
    reader.refuse(fmt::format("the unsupported escape \\{}", static_cast<char>(letter)));
  return letter;
}

}  // namespace heed::text
