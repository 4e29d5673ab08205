#include <algorithm>
#include <array>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/constrain/schema/keywords.h"

namespace heed::constrain {
namespace {

using Conjunctions = std::vector<ConjunctionId>;

Conjunctions each_term(SchemaAlgebra& algebra, const std::vector<Term>& terms, bool negated) {
  Conjunctions result;
  for (const Term term : terms) {
    result.push_back(algebra.conjunction({negated ? negate(term) : term}));
  }
  return result;
}

std::vector<Term> negate_all(std::vector<Term> terms) {
  for (Term& term : terms) term = negate(term);
  return terms;
}

Applicator all_of(std::vector<Term> terms) {
  return {
      "", kNoJson,
      [terms](SchemaAlgebra& algebra, const ValueSet&) {
        return Conjunctions{algebra.conjunction(terms)};
      },
      [terms](SchemaAlgebra& algebra, const ValueSet&) { return each_term(algebra, terms, true); }};
}

/// With "unevaluatedProperties", it matters which of the schemas are satisfied: each subset is an
/// alternative of its own.
Conjunctions subsets(SchemaAlgebra& algebra, const std::vector<Term>& terms) {
  constexpr size_t kMaxTerms = 6;
  if (terms.size() > kMaxTerms)
    fail("it has more than {} schemas beside unevaluated ones", kMaxTerms);
  Conjunctions result;
  for (unsigned bits = 1; bits < 1U << terms.size(); ++bits) {
    std::vector<Term> subset;
    for (size_t i = 0; i < terms.size(); ++i) {
      if (bits >> i & 1) subset.push_back(terms[i]);
    }
    result.push_back(algebra.conjunction(subset));
  }
  return result;
}

Applicator any_of(std::vector<Term> terms) {
  return {"", kNoJson,
          [terms](SchemaAlgebra& algebra, const ValueSet&) {
            return algebra.tracks_evaluated() ? subsets(algebra, terms)
                                              : each_term(algebra, terms, false);
          },
          [terms](SchemaAlgebra& algebra, const ValueSet&) {
            return Conjunctions{algebra.conjunction(negate_all(terms))};
          }};
}

/// Exactly one: negations of those that have no value in common are left out.
Conjunctions exactly_one(SchemaAlgebra& algebra, const ValueSet& within,
                         const std::vector<Term>& terms) {
  const size_t count = terms.size();
  std::vector<std::vector<Term>> result;
  for (const Term term : terms) result.push_back({term});
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = i + 1; j < count; ++j) {
      if (algebra.is_empty(within, algebra.conjunction({terms[i], terms[j]}))) continue;
      result[i].push_back(negate(terms[j]));
      result[j].push_back(negate(terms[i]));
    }
  }
  Conjunctions conjunctions;
  for (const auto& parts : result) conjunctions.push_back(algebra.conjunction(parts));
  return conjunctions;
}

Conjunctions none_or_two(SchemaAlgebra& algebra, const ValueSet& within,
                         const std::vector<Term>& terms) {
  Conjunctions result = {algebra.conjunction(negate_all(terms))};
  for (size_t i = 0; i < terms.size(); ++i) {
    for (size_t j = i + 1; j < terms.size(); ++j) {
      const ConjunctionId both = algebra.conjunction({terms[i], terms[j]});
      if (!algebra.is_empty(within, both)) result.push_back(both);
    }
  }
  return result;
}

Applicator one_of(std::vector<Term> terms) {
  return {"", kNoJson,
          [terms](SchemaAlgebra& algebra, const ValueSet& within) {
            return exactly_one(algebra, within, terms);
          },
          [terms](SchemaAlgebra& algebra, const ValueSet& within) {
            return none_or_two(algebra, within, terms);
          }};
}

/// (a and b) or (not a and c).
Applicator if_then_else(Term a, Term b, Term c) {
  const auto choose = [a](Term then, Term otherwise) {
    return [=](SchemaAlgebra& algebra, const ValueSet&) {
      return Conjunctions{algebra.conjunction({a, then}),
                          algebra.conjunction({negate(a), otherwise})};
    };
  };
  return {"", kNoJson, choose(b, c), choose(negate(b), negate(c))};
}

/// What "dependencies" and its successors demand of objects with the member `name`.
Applicator dependency(SchemaAlgebra& algebra, JsonId value, SchemaResources::Scope scope) {
  std::vector<Term> terms;
  if (algebra.document()[value].is_array()) {
    for (const std::string& name : read_string_array(algebra, value)) {
      terms.push_back(negate(algebra.absent_term(name)));
    }
  } else {
    terms.push_back(algebra.schema_term(value, scope));
  }
  const Term absent = algebra.absent_term(algebra.document()[value].key);
  return {"", kNoJson,
          [=](SchemaAlgebra& own, const ValueSet&) {
            std::vector<Term> present = terms;
            present.insert(present.begin(), negate(absent));
            return Conjunctions{own.conjunction({absent}), own.conjunction(present)};
          },
          [=](SchemaAlgebra& own, const ValueSet&) {
            Conjunctions result;
            for (const Term term : terms) {
              result.push_back(own.conjunction({negate(absent), negate(term)}));
            }
            return result;
          }};
}

Term term_of_member(SchemaAlgebra& algebra, JsonId schema, SchemaResources::Scope scope,
                    std::string_view keyword) {
  const JsonId value = algebra.document().find(schema, keyword);
  return value == kNoJson ? kTrueTerm : algebra.schema_term(value, scope);
}

JsonId target_of(SchemaAlgebra& algebra, JsonId schema, SchemaResources::Scope scope,
                 std::string_view keyword, JsonId value) {
  const JsonNode& node = algebra.document()[value];
  if (!node.is_string()) algebra.refuse(keyword, value, "it is not a string");
  return keyword == "$ref" ? algebra.resources().resolve(schema, keyword, node.text)
                           : algebra.resources().resolve_dynamic(schema, keyword, node.text, scope);
}

}  // namespace

std::vector<Term> read_schema_array(SchemaAlgebra& algebra, JsonId value,
                                    SchemaResources::Scope scope) {
  const JsonNode& node = algebra.document()[value];
  if (!node.is_array() || node.items.empty()) {
    algebra.refuse(node.key, value, "it is not an array of schemas");
  }
  std::vector<Term> terms;
  for (const JsonId item : node.items) terms.push_back(algebra.schema_term(item, scope));
  return terms;
}

bool read_applicator(SchemaAlgebra& algebra, JsonId schema, SchemaResources::Scope scope,
                     std::string_view keyword, JsonId value, std::vector<Applicator>& applicators) {
  const Draft draft = algebra.resources().draft(schema);
  const auto add = [&](Applicator applicator) {
    applicator.keyword = keyword;
    applicator.location = value;
    applicators.push_back(std::move(applicator));
    return true;
  };
  if (keyword == "$ref" || (keyword == "$dynamicRef" && draft == Draft::k2020) ||
      (keyword == "$recursiveRef" && draft == Draft::k2019)) {
    const JsonId target = target_of(algebra, schema, scope, keyword, value);
    return add(all_of({algebra.schema_term(target, scope)}));
  }
  if (keyword == "allOf") return add(all_of(read_schema_array(algebra, value, scope)));
  if (keyword == "anyOf") return add(any_of(read_schema_array(algebra, value, scope)));
  if (keyword == "oneOf") return add(one_of(read_schema_array(algebra, value, scope)));
  if (keyword == "not") return add(all_of({negate(algebra.schema_term(value, scope))}));
  if (keyword == "if" && draft >= Draft::k7) {
    return add(if_then_else(algebra.schema_term(value, scope),
                            term_of_member(algebra, schema, scope, "then"),
                            term_of_member(algebra, schema, scope, "else")));
  }
  if (keyword == "dependencies" || (draft >= Draft::k2019 && (keyword == "dependentRequired" ||
                                                              keyword == "dependentSchemas"))) {
    if (!algebra.document()[value].is_object())
      algebra.refuse(keyword, value, "it is not an object");
    for (const auto& [name, member] : algebra.document()[value].members) {
      add(dependency(algebra, member, scope));
    }
    return true;
  }
  return (keyword == "then" || keyword == "else") && draft >= Draft::k7;
}

}  // namespace heed::constrain
