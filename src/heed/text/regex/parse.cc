#include <optional>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/text/regex/node.h"
#include "heed/text/unicode/properties.h"
#include "heed/text/unicode/tables.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

using Kind = RegexNode::Kind;

RegexNode set_node(CodePointRanges set) {
  RegexNode node;
  node.kind = Kind::set;
  node.set = std::move(set);
  return node;
}

RegexNode parent(Kind kind, std::vector<RegexNode> children) {
  RegexNode node;
  node.kind = kind;
  node.children = std::move(children);
  return node;
}

RegexNode place_node(Place place) {
  RegexNode node;
  node.kind = Kind::place;
  node.place = place;
  return node;
}

CodePointRanges range(char32_t first, char32_t last) {
  CodePointRanges set;
  set.add(first, last);
  return set;
}

class Parser {
 public:
  Parser(std::string_view pattern, const std::string& where) : text_(pattern), where_(where) {}

  RegexNode parse() {
    require(is_valid_utf8(text_), "{}: the pattern is not valid UTF-8", where_);
    RegexNode node = alternatives();
    if (!done()) refuse("an unmatched )");
    return node;
  }

 private:
  static constexpr int kDeepest = 100;
  static constexpr uint32_t kMostRepetitions = 1000;

  bool done() const { return position_ == text_.size(); }
  char32_t peek() const { return done() ? 0 : code_point_at(text_, position_).value; }
  char32_t take() {
    if (done()) refuse("its end where more was expected");
    const CodePoint point = code_point_at(text_, position_);
    position_ += point.length;
    return point.value;
  }
  bool take_if(std::string_view wanted) {
    if (text_.substr(position_, wanted.size()) != wanted) return false;
    position_ += wanted.size();
    return true;
  }

  [[noreturn]] void refuse(const std::string& what) const {
    fail("{}: the regular expression {} has {} at byte {}", where_,
         excerpt(nlohmann::json(std::string(text_))), what, position_);
  }

  RegexNode alternatives() {
    if (++depth_ > kDeepest) refuse("groups nested too deeply");
    // (?i) in the middle of a group holds to the end of that group.
    const bool outer_ignore_case = ignore_case_, outer_dot_all = dot_all_;
    std::vector<RegexNode> branches;
    do branches.push_back(sequence());
    while (take_if("|"));
    ignore_case_ = outer_ignore_case;
    dot_all_ = outer_dot_all;
    --depth_;
    return branches.size() == 1 ? std::move(branches[0])
                                : parent(Kind::alternatives, std::move(branches));
  }

  RegexNode sequence() {
    std::vector<RegexNode> parts;
    while (!done() && peek() != '|' && peek() != ')') {
      RegexNode node = atom();
      while (repeat(node)) {
      }
      parts.push_back(std::move(node));
    }
    return parts.size() == 1 ? std::move(parts[0]) : parent(Kind::sequence, std::move(parts));
  }

  /// Wraps `node` if a quantifier follows.
  bool repeat(RegexNode& node) {
    const size_t before = position_;
    uint32_t least = 0, most = RegexNode::kNoLimit;
    bool braces = false;
    if (take_if("?")) {
      most = 1;
    } else if (take_if("+")) {
      least = 1;
    } else if (!take_if("*")) {
      if (!interval(least, most)) {
        position_ = before;
        return false;
      }
      braces = true;
    }
    Repetition repetition = Repetition::greedy;
    if (take_if("?"))
      repetition = Repetition::lazy;
    else if (!braces && take_if("+"))  // Oniguruma: {2}+ repeats {2}
      repetition = Repetition::possessive;
    if (most > 1 && can_be_empty(node)) refuse("a repetition of what can be empty");
    RegexNode outer = parent(Kind::repeat, {std::move(node)});
    outer.least = least;
    outer.most = most;
    outer.repetition = repetition;
    node = std::move(outer);
    return true;
  }

  bool interval(uint32_t& least, uint32_t& most) {
    if (!take_if("{")) return false;
    const auto low = number();
    if (take_if("}")) {
      if (!low) return false;
      least = most = *low;
      return true;
    }
    if (!take_if(",")) return false;
    const auto high = number();
    if (!take_if("}") || (!low && !high)) return false;
    least = low.value_or(0);
    most = high.value_or(RegexNode::kNoLimit);
    if (least > most) refuse("an interval that ends before it begins");
    return true;
  }

  std::optional<uint32_t> number() {
    std::optional<uint32_t> value;
    while (!done() && peek() >= '0' && peek() <= '9') {
      value = value.value_or(0) * 10 + (take() - '0');
      if (*value > kMostRepetitions) refuse("an interval above 1000");
    }
    return value;
  }

  RegexNode atom() {
    const char32_t value = take();
    switch (value) {
      case '(':
        return group();
      case '[':
        return set_node(cased(bracket()));
      case '.':
        return set_node(dot_all_ ? CodePointRanges::all() : range('\n', '\n').inverted());
      case '^':
        return place_node(Place::line_begin);
      case '$':
        return place_node(Place::line_end);
      case '\\':
        return escape();
      case '*':
      case '+':
      case '?':
        refuse("a quantifier of nothing");
      default:
        return set_node(cased(range(value, value)));
    }
  }

  CodePointRanges cased(CodePointRanges set) const {
    if (ignore_case_) add_other_cases(set);
    return set;
  }

  RegexNode group() {
    if (!take_if("?")) return closed(alternatives());
    if (take_if(":")) return closed(alternatives());
    if (take_if(">")) return parent(Kind::atomic, {closed(alternatives())});
    if (take_if("#")) {
      while (take() != ')') {
      }
      return {};
    }
    if (take_if("=")) return look(false, false);
    if (take_if("!")) return look(false, true);
    if (take_if("<=")) return look(true, false);
    if (take_if("<!")) return look(true, true);
    return flags();
  }

  RegexNode closed(RegexNode node) {
    if (!take_if(")")) refuse("a group without its )");
    return node;
  }

  RegexNode look(bool behind, bool negated) {
    RegexNode inner = closed(alternatives());
    if (behind && inner.kind != Kind::alternatives) inner = parent(Kind::alternatives, {inner});
    if (behind)
      for (const RegexNode& branch : inner.children)
        if (!fixed_length(branch)) refuse("a look behind of changing length");
    RegexNode node = parent(Kind::look, {std::move(inner)});
    node.behind = behind;
    node.negated = negated;
    return node;
  }

  /// (?i), (?m), (?-i:...)
  RegexNode flags() {
    const bool outer_ignore_case = ignore_case_, outer_dot_all = dot_all_;
    bool on = true;
    while (true) {
      const char32_t flag = take();
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
        refuse("a kind of group that heed does not know");
    }
    RegexNode node = closed(alternatives());
    ignore_case_ = outer_ignore_case;
    dot_all_ = outer_dot_all;
    return node;
  }

  RegexNode escape() {
    switch (peek()) {
      case 'b':
        take();
        return place_node(Place::word_edge);
      case 'B':
        take();
        return place_node(Place::no_word_edge);
      case 'A':
        take();
        return place_node(Place::text_begin);
      case 'z':
        take();
        return place_node(Place::text_end);
      case 'Z':
        take();
        return place_node(Place::text_end_or_last_newline);
      default:
        break;
    }
    if (auto set = class_escape()) return set_node(cased(std::move(*set)));
    const char32_t value = character_escape();
    return set_node(cased(range(value, value)));
  }

  /// After a backslash: \s, \D, \p{...}; nothing if it is something else.
  std::optional<CodePointRanges> class_escape() {
    const char32_t letter = peek();
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
        set.add('a', 'f');
        set.add('A', 'F');
        break;
      case 'p':
      case 'P':
        take();
        return property(letter == 'P');
      default:
        return std::nullopt;
    }
    take();
    return letter < 'a' ? set.inverted() : set;
  }

  CodePointRanges property(bool negated) {
    if (!take_if("{")) refuse("a \\p without its {name}");
    if (take_if("^")) negated = !negated;
    const size_t end = text_.find('}', position_);
    if (end == std::string_view::npos) refuse("a \\p{ without its }");
    const std::string name(text_.substr(position_, end - position_));
    const auto set = property_named(name);
    if (!set) refuse("\\p{" + one_line(name) + "}, a property that heed does not know,");
    position_ = end + 1;
    return negated ? set->inverted() : *set;
  }

  char32_t character_escape() {
    const char32_t letter = take();
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
        return take_if("{") ? hexadecimal(1, 8, true) : hexadecimal(1, 2, false);
      case 'u':
        return hexadecimal(4, 4, false);
      case '0':
        return 0;
      default:
        break;
    }
    const bool plain =
        letter >= 0x80 || !((letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
                            (letter >= 'A' && letter <= 'Z'));
    if (!plain) refuse(fmt::format("\\{}, which heed does not know,", static_cast<char>(letter)));
    return letter;
  }

  char32_t hexadecimal(int least, int most, bool brace) {
    uint64_t value = 0;
    int digits = 0;
    for (; digits < most && !done(); ++digits) {
      const char32_t c = peek();
      if (c >= '0' && c <= '9')
        value = value * 16 + (c - '0');
      else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
        value = value * 16 + ((c | 0x20) - 'a' + 10);
      else
        break;
      take();
    }
    if (digits < least || value > CodePointRanges::kLast || (brace && !take_if("}")))
      refuse("a broken hexadecimal number");
    return static_cast<char32_t>(value);
  }

  /// After "[": sets separated by && up to the "]".
  CodePointRanges bracket() {
    if (++depth_ > kDeepest) refuse("classes nested too deeply");
    const bool negated = take_if("^");
    std::optional<CodePointRanges> all;
    CodePointRanges set;
    bool first = true;
    const auto end_part = [&] { all = all ? all->intersected(set) : set; };
    while (first || !take_if("]")) {
      if (done()) refuse("a class without its ]");
      if (take_if("&&")) {
        end_part();
        set = {};
      } else {
        add_class_item(set);
      }
      first = false;
    }
    end_part();
    --depth_;
    return negated ? cased(*all).inverted() : *all;
  }

  void add_class_item(CodePointRanges& set) {
    if (text_.substr(position_, 2) == "[:") refuse("a [:name:] class");
    if (take_if("[")) {
      set.add(bracket());
      return;
    }
    const auto begin = class_character(set);
    if (!begin) return;
    const std::string_view rest = text_.substr(position_);
    if (rest.size() < 2 || rest[0] != '-' || rest[1] == ']') {
      set.add(*begin, *begin);
      return;
    }
    take();
    CodePointRanges ignored;
    const auto end = class_character(ignored);
    if (!end || *end < *begin) refuse("a range that is none");
    set.add(*begin, *end);
  }

  /// A character of a class, or nothing if it was a class itself, which is then in `set`.
  std::optional<char32_t> class_character(CodePointRanges& set) {
    const char32_t value = take();
    if (value != '\\') return value;
    if (const auto escaped = class_escape()) {
      set.add(*escaped);
      return std::nullopt;
    }
    if (take_if("b")) return '\b';
    return character_escape();
  }

  std::string_view text_;
  const std::string& where_;
  size_t position_ = 0;
  int depth_ = 0;
  bool ignore_case_ = false, dot_all_ = false;
};

}  // namespace

RegexNode parse_regex(std::string_view pattern, const std::string& where) {
  return Parser(pattern, where).parse();
}

}  // namespace heed::text
