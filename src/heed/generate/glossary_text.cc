// The text of a glossary: a term per line.
#include "heed/base/ascii.h"
#include "heed/base/byte_order_mark.h"
#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/generate/glossary.h"

namespace heed {
namespace {

GlossaryTerm parse_term(std::string_view line) {
  const std::vector<std::string_view> columns = split_at(line, "\t");
  require_input(columns.size() == 2 || columns.size() == 3,
                "a term has {} columns, expected 2 or 3 with tabs between them: source, targets "
                "and perhaps match_case",
                columns.size());
  const std::string_view rule = columns.size() == 3 ? columns[2] : "";
  const bool match_case = rule == "match_case";
  require_input(match_case || rule.empty(),
                "the third column is {}, expected \"match_case\" or nothing", quoted(rule));
  GlossaryTerm term{.source = std::string(columns[0]), .targets = {}, .match_case = match_case};
  for (const std::string_view target : split_at(columns[1], " | "))
    term.targets.emplace_back(target);
  generate::check_term(term, "the glossary");
  return term;
}

}  // namespace

std::vector<GlossaryTerm> parse_glossary(std::string_view text, const std::string& name) {
  std::vector<GlossaryTerm> terms;
  int64_t number = 0;
  for (std::string_view line : split_at(without_byte_order_mark(text), "\n")) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    terms.push_back(name_input(name + ": line", number, [&] { return parse_term(line); }));
  }
  return terms;
}

}  // namespace heed
