#include "heed/constrain/regex.h"

#include <array>
#include <map>
#include <optional>
#include <string>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/constrain/constraint.h"
#include "heed/constrain/regex_parser.h"

namespace heed::constrain {
namespace {

using Kind = RegexNode::Kind;

// Copies of what is repeated and holds an anchor or a look-ahead.
constexpr uint32_t kMaxAnchoredCopies = 100;
// Ranges of code points that are compared in a step.
constexpr size_t kRangesOfStep = 16;

// Makes expressions of patterns from back to front: of a part and what follows it in the text.
// Then $ says that what follows is empty, and (?=x) that it begins with x. Since ^ looks at what
// precedes, there are two expressions for each: if no text precedes, and if some does.
class RegexCompiler {
 public:
  RegexCompiler(Expressions& expressions, std::string_view pattern, const RegexOptions& options)
      : expressions_(expressions), pattern_(pattern), options_(options) {}

  ExpressionId compile() {
    const RegexNode node = parse_regex(pattern_, options_);
    const ExpressionId epsilon = expressions_.epsilon();
    if (!options_.search) return compile(node, {epsilon, epsilon}).first;
    const ExpressionId character = spell(CodePointSet::all());
    const ExpressionId text = expressions_.repeat(character, 0, Expressions::kUnbounded);
    const Rest found = compile(node, {text, text});
    return expressions_.alternate(
        found.first, expressions_.concatenate(
                         expressions_.repeat(character, 1, Expressions::kUnbounded), found.later));
  }

 private:
  struct Rest {
    ExpressionId first, later;  // if it is all of the text; if something precedes it
  };

  [[noreturn]] void fail_at(const RegexNode& node, std::string_view problem) const {
    fail("the regular expression {}, byte {}: {}", quoted(pattern_), node.position, problem);
  }

  ExpressionId spell(const CodePointSet& set) {
    expressions_.spend(1 + set.ranges().size() / kRangesOfStep);
    const auto known = spelled_.find(set);
    if (known != spelled_.end()) return known->second;
    const ExpressionId result =
        options_.spell ? options_.spell(expressions_, set) : utf8(expressions_, set);
    spelled_.emplace(set, result);
    return result;
  }

  Rest compile(const RegexNode& node, Rest rest) {
    if (node.is_plain) return followed(plain(node), rest);
    switch (node.kind) {
      case Kind::characters:
        break;
      case Kind::sequence:
        for (size_t i = node.parts.size(); i-- > 0;) rest = compile(node.parts[i], rest);
        return rest;
      case Kind::choice: {
        std::vector<ExpressionId> first, later;
        for (const RegexNode& part : node.parts) {
          const Rest each = compile(part, rest);
          first.push_back(each.first);
          later.push_back(each.later);
        }
        return {expressions_.alternate(first), expressions_.alternate(later)};
      }
      case Kind::repetition:
        return repeat(node, rest);
      case Kind::text_begin:
        return {rest.first, expressions_.none()};
      case Kind::text_end:
        return both(end_of_text(node), rest);
      case Kind::look_ahead: {
        const ExpressionId any = expressions_.any();
        Rest ahead = compile(node.parts[0], {any, any});
        if (node.negative) {
          ahead = {expressions_.complement(ahead.first), expressions_.complement(ahead.later)};
        }
        return {expressions_.intersect(ahead.first, rest.first),
                expressions_.intersect(ahead.later, rest.later)};
      }
    }
    return rest;
  }

  Rest both(ExpressionId condition, Rest rest) {
    return {expressions_.intersect(condition, rest.first),
            expressions_.intersect(condition, rest.later)};
  }

  ExpressionId end_of_text(const RegexNode& node) {
    if (!node.negative) return expressions_.epsilon();
    return expressions_.optional(spell({{'\n', '\n'}}));
  }

  Rest followed(ExpressionId part, Rest rest) {
    const ExpressionId later = expressions_.concatenate(part, rest.later);
    if (rest.first == rest.later) return {later, later};
    const ExpressionId first = expressions_.concatenate(not_empty(part), rest.later);
    if (!expressions_.nullable(part)) return {first, later};
    return {expressions_.alternate(first, rest.first), later};
  }

  ExpressionId not_empty(ExpressionId part) {
    if (!expressions_.nullable(part)) return part;
    return expressions_.intersect(part, expressions_.complement(expressions_.epsilon()));
  }

  ExpressionId plain(const RegexNode& node) {
    std::vector<ExpressionId> parts;
    for (const RegexNode& part : node.parts) parts.push_back(plain(part));
    switch (node.kind) {
      case Kind::characters:
        return spell(node.set);
      case Kind::choice:
        return expressions_.alternate(parts);
      case Kind::repetition:
        return expressions_.repeat(parts[0], node.min, node.max);
      default:
        return expressions_.concatenate(parts);
    }
  }

  // Of a part with anchors or a look-ahead.
  Rest repeat(const RegexNode& node, Rest rest) {
    const RegexNode& part = node.parts[0];
    uint32_t copies = node.min;
    if (node.max == Expressions::kUnbounded) {
      if (const std::optional<Rest> checked = repeat_checked(node, rest)) return *checked;
      rest = repeat_anchored(part, rest);
    } else {
      copies = node.max;
    }
    if (copies > kMaxAnchoredCopies) fail_at(node, "too many repetitions of an anchor");
    const uint32_t optional = node.max == Expressions::kUnbounded ? 0 : node.max - node.min;
    const Rest end = rest;
    for (uint32_t i = 0; i < copies; ++i) {
      rest = compile(part, rest);
      if (i >= optional) continue;
      rest = {expressions_.alternate(rest.first, end.first),
              expressions_.alternate(rest.later, end.later)};
    }
    return rest;
  }

  // ((?!x)c)* up to the end of the text, c being one character: at none of its characters a text
  // follows that begins with x.
  std::optional<Rest> repeat_checked(const RegexNode& node, Rest rest) {
    const RegexNode& part = node.parts[0];
    const ExpressionId epsilon = expressions_.epsilon();
    if (part.kind != Kind::sequence || part.parts.empty() || rest.later != epsilon ||
        rest.first != epsilon || part.parts.back().kind != Kind::characters) {
      return std::nullopt;
    }
    const ExpressionId any = expressions_.any();
    const ExpressionId character = spell(part.parts.back().set);
    std::vector<ExpressionId> wrong;
    for (size_t i = 0; i + 1 < part.parts.size(); ++i) {
      const RegexNode& check = part.parts[i];
      if (check.kind != Kind::look_ahead) return std::nullopt;
      const Rest ahead = compile(check.parts[0], {any, any});
      if (ahead.first != ahead.later) return std::nullopt;
      wrong.push_back(check.negative ? ahead.later : expressions_.complement(ahead.later));
    }
    const ExpressionId somewhere_wrong =
        expressions_.concatenate(expressions_.repeat(character, 0, Expressions::kUnbounded),
                                 expressions_.intersect(expressions_.alternate(wrong),
                                                        expressions_.concatenate(character, any)));
    const ExpressionId result =
        expressions_.intersect(expressions_.repeat(character, node.min, Expressions::kUnbounded),
                               expressions_.complement(somewhere_wrong));
    return Rest{result, result};
  }

  // x*: texts of x that reach no anchor, then what follows, or a text of x that ends at a $.
  Rest repeat_anchored(const RegexNode& part, Rest rest) {
    const ExpressionId epsilon = expressions_.epsilon();
    Rest last = {expressions_.none(), expressions_.none()};
    if (expressions_.nullable(rest.later)) last = compile(part, {epsilon, epsilon});
    const ExpressionId later = expressions_.concatenate(
        expressions_.repeat(without_end(part, false), 0, Expressions::kUnbounded),
        expressions_.alternate(rest.later, last.later));
    const std::array first = {rest.first, not_empty(last.first),
                              expressions_.concatenate(not_empty(without_end(part, true)), later)};
    return {expressions_.alternate(first), later};
  }

  // The texts of a part that reach no $; `first`: with nothing before it.
  ExpressionId without_end(const RegexNode& node, bool first) {
    if (node.is_plain) return plain(node);
    std::vector<ExpressionId> parts;
    switch (node.kind) {
      case Kind::text_begin:
        return first ? expressions_.epsilon() : expressions_.none();
      case Kind::text_end:
        return expressions_.none();
      case Kind::choice:
        for (const RegexNode& part : node.parts) parts.push_back(without_end(part, first));
        return expressions_.alternate(parts);
      case Kind::sequence:
        for (const RegexNode& part : node.parts) {
          if (first && !parts.empty() && !part.is_plain && may_be_empty_or_not(parts.back())) {
            fail_at(part, "an anchor here, inside a repetition, is not supported");
          }
          parts.push_back(without_end(part, first));
          first = first && expressions_.max_length(parts.back()) == 0;
        }
        return expressions_.concatenate(parts);
      default:
        fail_at(node,
                "a look-ahead or a nested repetition of an anchor, inside a repetition, is not "
                "supported");
    }
  }

  bool may_be_empty_or_not(ExpressionId part) const {
    return expressions_.nullable(part) && expressions_.max_length(part) > 0;
  }

  Expressions& expressions_;
  std::string_view pattern_;
  const RegexOptions& options_;
  std::map<CodePointSet, ExpressionId> spelled_;
};

}  // namespace

ExpressionId compile_pattern(Expressions& expressions, std::string_view pattern,
                             const RegexOptions& options) {
  return RegexCompiler(expressions, pattern, options).compile();
}

Symbol add_regex(GrammarBuilder& builder, std::string_view pattern, RegexDialect dialect) {
  return builder.terminal(compile_pattern(builder.expressions(), pattern, {.dialect = dialect}));
}

}  // namespace heed::constrain
