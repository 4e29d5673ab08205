#include "heed/text/regex/regex.h"

#include "heed/text/regex/matcher.h"
#include "heed/text/regex/program.h"

namespace heed::text {
Regex::Regex(std::string_view pattern, const std::string& where) {
  auto program = std::make_shared<Program>();
  compile_regex(parse_regex(pattern, where), where, *program);
  program_ = std::move(program);
}

Regex Regex::literal(std::string_view text) {
  // An empty text matches everywhere, as an empty pattern does.
  if (text.empty()) return Regex("", "an empty pattern");
  auto program = std::make_shared<Program>();
  program->literal = text;
  return Regex(std::move(program));
}

Regex::Regex(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

template <typename Visit>
void Regex::visit_matches(std::string_view text, Visit&& visit) const {
  const std::string_view literal = program_->literal;
  if (literal.empty()) {
    Matcher matcher(*program_, text);
    while (const auto match = matcher.next()) visit(*match);
    return;
  }
  for (size_t begin = text.find(literal); begin != std::string_view::npos;
       begin = text.find(literal, begin + literal.size()))
    visit(TextSpan{begin, begin + literal.size()});
}

std::vector<TextSpan> Regex::find_all(std::string_view text) const {
  std::vector<TextSpan> matches;
  visit_matches(text, [&](TextSpan match) { matches.push_back(match); });
  return matches;
}

void Regex::for_each_match(std::string_view text,
                           const std::function<void(TextSpan)>& visit) const {
  visit_matches(text, visit);
}

}  // namespace heed::text
