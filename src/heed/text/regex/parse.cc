#include <algorithm>
#include <map>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/reader_limits.h"
#include "heed/text/regex/char_class.h"
#include "heed/text/regex/ignore_case.h"
#include "heed/text/regex/node.h"
#include "heed/text/regex/pattern_reader.h"

namespace heed::text {
namespace {

CodePointRanges range(char32_t first, char32_t last) {
  CodePointRanges set;
  set.add(first, last);
  return set;
}

/// Numbers the distinct sets of a pattern. A class such as \w takes thousands of bytes, so one that
/// occurs often must not be stored each time.
class SetTable {
 public:
  uint32_t number_of(CodePointRanges set) {
    const auto [entry, is_new] =
        numbers_.emplace(std::move(set), static_cast<uint32_t>(numbers_.size()));
    return entry->second;
  }

  std::vector<CodePointRanges> taken() && {
    std::vector<CodePointRanges> sets(numbers_.size());
    while (!numbers_.empty()) {
      auto entry = numbers_.extract(numbers_.begin());
      sets[entry.mapped()] = std::move(entry.key());
    }
    return sets;
  }

 private:
  struct Less {
    bool operator()(const CodePointRanges& a, const CodePointRanges& b) const {
      return std::lexicographical_compare(
          a.ranges().begin(), a.ranges().end(), b.ranges().begin(), b.ranges().end(),
          [](CodePointRanges::Range left, CodePointRanges::Range right) {
            return left.first != right.first ? left.first < right.first : left.last < right.last;
          });
    }
  };

  std::map<CodePointRanges, uint32_t, Less> numbers_;
};

/// By recursive descent: alternatives > sequence > atom with its quantifiers > group.
class Parser {
 public:
  Parser(std::string_view pattern, const std::string& where) : reader_(pattern, where) {}

  RegexTree parse() {
    RegexTree tree;
    tree.root = read_alternatives();
    if (!reader_.done()) reader_.refuse("an unmatched )");
    tree.sets = std::move(sets_).taken();
    return tree;
  }

 private:
  RegexNode read_alternatives() {
    if (++depth_ > limits::kMaxPatternDepth) reader_.refuse("groups nested too deeply");
    // (?i) in the middle of a group holds to the end of that group.
    const bool outer_ignore_case = ignore_case_, outer_dot_all = dot_all_;
    std::vector<RegexNode> branches;
    do branches.push_back(read_sequence());
    while (reader_.take_if("|"));
    ignore_case_ = outer_ignore_case;
    dot_all_ = outer_dot_all;
    --depth_;
    return branches.size() == 1 ? std::move(branches[0]) : alternatives_node(std::move(branches));
  }

  RegexNode read_sequence() {
    std::vector<RegexNode> parts;
    while (!reader_.done() && reader_.peek() != '|' && reader_.peek() != ')') {
      RegexNode node = read_atom();
      for (int quantifiers = 0; read_quantifier(node);)
        if (++quantifiers > limits::kMaxQuantifiers)
          reader_.refuse("too many quantifiers in a row");
      parts.push_back(std::move(node));
    }
    return parts.size() == 1 ? std::move(parts[0]) : sequence_node(std::move(parts));
  }

  /// Wraps `node` if a quantifier follows.
  bool read_quantifier(RegexNode& node) {
    uint32_t min = 0, max = RegexNode::kNoLimit;
    bool braces = false;
    if (reader_.take_if("?")) {
      max = 1;
    } else if (reader_.take_if("+")) {
      min = 1;
    } else if (!reader_.take_if("*")) {
      if (!read_interval(min, max)) return false;
      braces = true;
    }
    Repetition repetition = Repetition::greedy;
    if (reader_.take_if("?"))
      repetition = Repetition::lazy;
    else if (!braces && reader_.take_if("+"))  // Oniguruma: {2}+ repeats {2}
      repetition = Repetition::possessive;
    if (max > 1 && node.can_be_empty) reader_.refuse("a repetition of a group that can be empty");
    node = repeat_node(std::move(node), min, max, repetition);
    return true;
  }

  /// {2}, {2,}, {,3} or {2,3}; reads nothing where something else follows.
  bool read_interval(uint32_t& min, uint32_t& max) {
    const size_t begin = reader_.position();
    if (!reader_.take_if("{")) return false;
    const auto low = read_number();
    const bool comma = reader_.take_if(",");
    const auto high = comma ? read_number() : low;
    if (!reader_.take_if("}") || (!low && !high)) {
      reader_.go_back_to(begin);
      return false;
    }
    min = low.value_or(0);
    max = high.value_or(RegexNode::kNoLimit);
    if (min > max) reader_.refuse("an interval whose maximum is below its minimum");
    return true;
  }

  std::optional<uint32_t> read_number() {
    std::optional<uint32_t> value;
    while (reader_.peek() >= '0' && reader_.peek() <= '9') {
      value = value.value_or(0) * 10 + (reader_.take() - '0');
      if (*value > limits::kMaxRepetitions)
        reader_.refuse(fmt::format("an interval above {}", limits::kMaxRepetitions));
    }
    return value;
  }

  RegexNode read_atom() {
    const char32_t value = reader_.take();
    switch (value) {
      case '(':
        return read_group();
      case '[':
        return one_of(read_bracket(reader_, ignore_case_));
      case '.':
        return set_node(
            sets_.number_of(dot_all_ ? CodePointRanges::all() : range('\n', '\n').inverted()));
      case '^':
        return anchor_node(Anchor::line_begin);
      case '$':
        return anchor_node(Anchor::line_end);
      case '\\':
        return read_escape();
      case '*':
      case '+':
      case '?':
        reader_.refuse("a quantifier with nothing to repeat");
      default:
        return one_of(range(value, value));
    }
  }

  RegexNode one_of(CodePointRanges set) {
    if (ignore_case_) add_other_cases(set);
    return set_node(sets_.number_of(std::move(set)));
  }

  RegexNode read_group() {
    if (!reader_.take_if("?") || reader_.take_if(":")) return read_to_parenthesis();
    if (reader_.take_if(">")) return atomic_node(read_to_parenthesis());
    if (reader_.take_if("#")) {
      while (reader_.take() != ')') {
      }
      return {};
    }
    if (reader_.take_if("=")) return read_lookaround(false, false);
    if (reader_.take_if("!")) return read_lookaround(false, true);
    if (reader_.take_if("<=")) return read_lookaround(true, false);
    if (reader_.take_if("<!")) return read_lookaround(true, true);
    return read_flags();
  }

  RegexNode read_to_parenthesis() {
    RegexNode node = read_alternatives();
    if (!reader_.take_if(")")) reader_.refuse("a group without a closing )");
    return node;
  }

  RegexNode read_lookaround(bool lookbehind, bool negated) {
    RegexNode inner = read_to_parenthesis();
    if (lookbehind && inner.kind != RegexNode::Kind::alternatives) {
      std::vector<RegexNode> single;
      single.push_back(std::move(inner));
      inner = alternatives_node(std::move(single));
    }
    if (lookbehind)
      for (const RegexNode& branch : inner.children)
        if (!branch.length) reader_.refuse("a look-behind of variable length");
    return lookaround_node(std::move(inner), lookbehind, negated);
  }

  /// (?i), (?m), (?-i:...)
  RegexNode read_flags() {
    const bool outer_ignore_case = ignore_case_, outer_dot_all = dot_all_;
    bool on = true;
    while (true) {
      const char32_t flag = reader_.take();
      if (flag == '-')
        on = false;
      else if (flag == 'i')
        ignore_case_ = on;
      else if (flag == 'm')
        dot_all_ = on;
      else if (flag == ')')
        return {};
      else if (flag == ':')
        break;
      else
        reader_.refuse("an unsupported kind of group");
    }
    RegexNode node = read_to_parenthesis();
    ignore_case_ = outer_ignore_case;
    dot_all_ = outer_dot_all;
    return node;
  }

  RegexNode read_escape() {
    if (const auto anchor = anchor_named(reader_.peek())) {
      reader_.take();
      return anchor_node(*anchor);
    }
    if (auto set = read_class_escape(reader_)) return one_of(std::move(*set));
    const char32_t value = read_character_escape(reader_);
    return one_of(range(value, value));
  }

  static std::optional<Anchor> anchor_named(char32_t letter) {
    switch (letter) {
      case 'b':
        return Anchor::word_boundary;
      case 'B':
        return Anchor::no_word_boundary;
      case 'A':
        return Anchor::text_begin;
      case 'z':
        return Anchor::text_end;
      case 'Z':
        return Anchor::text_end_or_last_newline;
      default:
        return std::nullopt;
    }
  }

  PatternReader reader_;
  SetTable sets_;
  int depth_ = 0;
  bool ignore_case_ = false, dot_all_ = false;
};

}  // namespace

RegexTree parse_regex(std::string_view pattern, const std::string& where) {
  require(pattern.size() <= limits::kMaxPatternBytes,
          "{}: a regular expression has {} bytes, at most {} are allowed", where, pattern.size(),
          limits::kMaxPatternBytes);
  require(is_valid_utf8(pattern), "{}: the pattern is not valid UTF-8", where);
  return Parser(pattern, where).parse();
}

}  // namespace heed::text
