#include "heed/constrain/regex_parser.h"

#include <optional>
#include <tuple>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/base/utf8.h"

namespace heed::constrain {
namespace {

using Kind = RegexNode::Kind;

constexpr int kMaxNesting = 200;
constexpr size_t kMaxPattern = size_t{1} << 16;
// Ranges of code points in all of a pattern; \p{L} has 659.
constexpr size_t kMaxRanges = size_t{1} << 18;

class RegexParser {
 public:
  RegexParser(std::string_view pattern, const RegexOptions& options) : reader_(pattern, options) {
    if (pattern.size() > kMaxPattern) reader_.fail_at(kMaxPattern, "the pattern is too long");
  }

  RegexNode parse() {
    if (reader_.is_python()) reader_.read_flags();
    RegexNode node = parse_choice(0);
    if (!reader_.at_end()) reader_.fail_here(") without (");
    return node;
  }

 private:
  RegexNode parse_choice(int nesting) {
    if (nesting > kMaxNesting) reader_.fail_here("groups are nested too deeply");
    std::vector<RegexNode> alternatives;
    do {
      alternatives.push_back(parse_sequence(nesting));
    } while (reader_.skip("|"));
    if (alternatives.size() == 1) return std::move(alternatives[0]);
    return with_parts(Kind::choice, std::move(alternatives));
  }

  static RegexNode with_parts(Kind kind, std::vector<RegexNode> parts) {
    RegexNode node = {.kind = kind, .parts = std::move(parts)};
    for (const RegexNode& part : node.parts) node.is_plain = node.is_plain && part.is_plain;
    if (!node.parts.empty()) node.position = node.parts[0].position;
    return node;
  }

  RegexNode parse_sequence(int nesting) {
    std::vector<RegexNode> parts;
    while (!reader_.at_end() && !reader_.sees("|") && !reader_.sees(")")) {
      const size_t begin = reader_.position();
      std::optional<RegexNode> atom = parse_atom(nesting);
      if (!atom) continue;
      atom->position = begin;
      parts.push_back(parse_quantifiers(std::move(*atom)));
    }
    if (parts.size() == 1) return std::move(parts[0]);
    return with_parts(Kind::sequence, std::move(parts));
  }

  // Nothing for a comment.
  std::optional<RegexNode> parse_atom(int nesting) {
    const size_t begin = reader_.position();
    const char32_t first = reader_.next();
    switch (first) {
      case '^':
        return anchor(Kind::text_begin);
      case '$':
        return anchor(Kind::text_end, reader_.is_python());
      case '.':
        return characters(read_dot(reader_));
      case '[':
        return characters(read_class(reader_));
      case '(':
        return parse_group(nesting);
      case '\\':
        return parse_escape();
      case '*':
      case '+':
      case '?':
        reader_.fail_at(begin, "nothing to repeat");
      default:
        return characters(reader_.ignores_case() ? CodePointSet{{first, first}}.with_other_cases()
                                                 : CodePointSet{{first, first}});
    }
  }

  RegexNode characters(CodePointSet set) {
    ranges_ += set.ranges().size();
    if (ranges_ > kMaxRanges) reader_.fail_here("too many ranges of characters");
    return {.kind = Kind::characters, .set = std::move(set)};
  }

  static RegexNode anchor(Kind kind, bool negative = false) {
    return {.kind = kind, .negative = negative, .is_plain = false};
  }

  RegexNode parse_escape() {
    const size_t begin = reader_.position() - 1;
    for (const std::string_view boundary : {"b", "B"}) {
      if (reader_.sees(boundary)) reader_.fail_at(begin, "word boundaries are not supported");
    }
    if (reader_.sees("k")) reader_.fail_at(begin, "back-references are not supported");
    if (!reader_.sees("0") && reader_.number()) {
      reader_.fail_at(begin, "back-references are not supported");
    }
    if (reader_.is_python() && reader_.skip("A")) return anchor(Kind::text_begin);
    if (reader_.is_python() && reader_.skip("Z")) return anchor(Kind::text_end);
    return characters(read_escape(reader_));
  }

  std::optional<RegexNode> parse_group(int nesting) {
    const size_t begin = reader_.position() - 1;
    std::optional<bool> looks_ahead;  // negatively
    if (reader_.skip("?")) {
      if (reader_.skip("=")) {
        looks_ahead = false;
      } else if (reader_.skip("!")) {
        looks_ahead = true;
      } else if (reader_.sees("<=") || reader_.sees("<!")) {
        reader_.fail_at(begin, "look-behind is not supported");
      } else if (reader_.is_python() && reader_.skip("#")) {
        while (!reader_.skip(")")) reader_.next();
        return std::nullopt;
      } else if (reader_.skip(reader_.is_python() ? "P<" : "<")) {
        while (!reader_.skip(">")) reader_.next();
      } else if (reader_.sees("P=") || reader_.sees("P>")) {
        reader_.fail_at(begin, "back-references are not supported");
      } else if (!reader_.skip(":")) {
        reader_.fail_at(begin, "a kind of group that is not supported");
      }
    }
    RegexNode node = parse_choice(nesting + 1);
    if (!reader_.skip(")")) reader_.fail_at(begin, "( without )");
    if (!looks_ahead) return node;
    std::vector<RegexNode> parts;
    parts.push_back(std::move(node));
    return RegexNode{.kind = Kind::look_ahead,
                     .parts = std::move(parts),
                     .negative = *looks_ahead,
                     .is_plain = false};
  }

  RegexNode parse_quantifiers(RegexNode atom) {
    const size_t begin = reader_.position();
    uint32_t min = 0, max = Expressions::kUnbounded;
    if (reader_.skip("+")) {
      min = 1;
    } else if (reader_.skip("?")) {
      max = 1;
    } else if (!reader_.skip("*")) {
      const std::optional<std::pair<uint32_t, uint32_t>> counts = parse_counts();
      if (!counts) return atom;
      std::tie(min, max) = *counts;
      if (min > max) reader_.fail_at(begin, "a repetition of at least more than at most");
    }
    reader_.skip("?");  // lazy: it matches the same texts
    if (reader_.sees("*") || reader_.sees("+") || reader_.sees("?")) {
      reader_.fail_here(reader_.is_python() && reader_.sees("+")
                            ? "possessive quantifiers are not supported"
                            : "nothing to repeat");
    }
    RegexNode node = {.kind = Kind::repetition, .min = min, .max = max, .is_plain = atom.is_plain};
    node.position = atom.position;
    node.parts.push_back(std::move(atom));
    // A further counted one.
    return reader_.sees("{") ? parse_quantifiers(std::move(node)) : node;
  }

  // {2}, {2,}, {2,3}. A { that begins none of them stands for itself.
  std::optional<std::pair<uint32_t, uint32_t>> parse_counts() {
    const size_t begin = reader_.position();
    if (!reader_.skip("{")) return std::nullopt;
    const std::optional<uint32_t> min = reader_.number();
    std::optional<uint32_t> max = min;
    const bool has_comma = reader_.skip(",");
    if (has_comma) max = reader_.number();
    const bool is_count = (min || (reader_.is_python() && max)) && reader_.skip("}");
    if (!is_count) {
      reader_.go_to(begin);
      return std::nullopt;
    }
    return std::pair(min.value_or(0), max.value_or(Expressions::kUnbounded));
  }

  RegexReader reader_;
  size_t ranges_ = 0;
};

}  // namespace

RegexReader::RegexReader(std::string_view pattern, const RegexOptions& options)
    : pattern_(pattern),
      dialect_(options.dialect),
      ignores_case_(options.ignore_case),
      dot_is_any_(options.dot_all) {
  require_utf8(pattern, "the regular expression");
}

bool RegexReader::skip(std::string_view text) {
  if (!sees(text)) return false;
  position_ += text.size();
  return true;
}

char32_t RegexReader::next() {
  if (at_end()) fail_here("it ends too early");
  const CodePoint point = code_point_at(pattern_, position_);
  position_ += point.length;
  return point.value;
}

void RegexReader::read_flags() {
  const size_t begin = position_;
  if (!skip("(?")) return;
  const bool ignores_case = skip("i"), dot_is_any = skip("s");
  if ((!ignores_case && !dot_is_any) || !skip(")")) return go_to(begin);
  ignores_case_ |= ignores_case;
  dot_is_any_ |= dot_is_any;
}

std::optional<uint32_t> RegexReader::number() {
  uint64_t value = 0;
  const size_t begin = position_;
  for (; !at_end() && pattern_[position_] >= '0' && pattern_[position_] <= '9'; ++position_) {
    value = value * 10 + static_cast<uint64_t>(pattern_[position_] - '0');
    if (value > (uint64_t{1} << 31)) fail_at(begin, "the number is too large");
  }
  if (position_ == begin) return std::nullopt;
  return static_cast<uint32_t>(value);
}

void RegexReader::fail_at(size_t position, std::string_view problem) const {
  fail("the regular expression {}, byte {}: {}", quoted(pattern_), position, problem);
}

RegexNode parse_regex(std::string_view pattern, const RegexOptions& options) {
  return RegexParser(pattern, options).parse();
}

}  // namespace heed::constrain
