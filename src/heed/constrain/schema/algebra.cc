#include "heed/constrain/schema/algebra.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/constrain/schema/keywords.h"

namespace heed::constrain {
namespace {

/// Steps that a schema may take; most of them copy a set of objects.
constexpr uint64_t kMaxSteps = 40'000;
/// What they cost, and what a value of the schema's text does, relative to a node of an expression;
/// bytes of the text that are read in that time, and terms that are compared.
constexpr size_t kStepCost = 12, kValueCost = 4, kTextOfStep = 8, kTermsOfStep = 32;
/// Applicators around each other.
constexpr int kMaxDepth = 300;
/// How far is_empty() looks into members and items.
constexpr int kMaxEmptinessDepth = 5;

}  // namespace

SchemaAlgebra::SchemaAlgebra(Expressions& expressions, const SchemaOptions& options)
    : expressions_(expressions),
      options_(options),
      resources_(document_),
      text_(expressions),
      numbers_(expressions),
      everything_(everything()) {
  term(Atom{});
  for (const std::vector<Term>& terms : {std::vector<Term>{}, std::vector<Term>{kFalseTerm}}) {
    conjunction_ids_.emplace(terms, static_cast<ConjunctionId>(entries_.size()));
    entries_.push_back(std::make_unique<Entry>());
    entries_.back()->terms = terms;
  }
}

ConjunctionId SchemaAlgebra::read(std::string_view schema) {
  const auto read_one = [this](std::string_view text) {
    expressions_.spend(text.size() / kTextOfStep);
    const JsonId result = document_.read(text);
    expressions_.spend(static_cast<size_t>(document_.size() - result) * kValueCost);
    return result;
  };
  const JsonId root = read_one(schema);
  resources_.add(root, "");
  for (const auto& [uri, text] : options_.documents) {
    const JsonId other = read_one(text);
    resources_.add(other, uri);
  }
  for (JsonId id = 0; id < document_.size(); ++id) {
    tracks_evaluated_ |= document_[id].key.starts_with("unevaluated");
  }
  return conjunction({schema_term(root, SchemaResources::kEmptyScope)});
}

Term SchemaAlgebra::term(const Atom& atom) {
  Atom key = atom;
  if (atom.kind == Atom::Kind::kConstant) key.location = kNoJson;
  const auto [place, inserted] =
      atom_ids_.emplace(std::move(key), static_cast<Term>(2 * atoms_.size()));
  if (inserted) atoms_.push_back(atom);
  return place->second;
}

Term SchemaAlgebra::constant_term(JsonId location) {
  return term({Atom::Kind::kConstant, location, 0, document_.canonical(location)});
}

Term SchemaAlgebra::absent_term(const std::string& name) {
  return term({Atom::Kind::kAbsent, kNoJson, 0, name});
}

Term SchemaAlgebra::schema_term(JsonId location, SchemaResources::Scope scope) {
  const std::pair key(location, scope);
  const auto known = schema_terms_.find(key);
  if (known != schema_terms_.end()) return known->second;
  // Schemas that are nothing but a "$ref" are the schema that it names.
  for (int hops = 0;; ++hops) {
    const JsonNode& node = document_[location];
    if (node.is_boolean()) {
      return schema_terms_[key] = node.boolean ? kTrueTerm : kFalseTerm;
    }
    if (!node.is_object()) {
      fail("the schema at {} is neither an object nor a boolean",
           quoted(document_.pointer(location)));
    }
    scope = resources_.enter(scope, location);
    const JsonId reference = sole_reference(document_, location, resources_.draft(location));
    if (reference == kNoJson) break;
    if (hops == kMaxDepth) refuse("$ref", reference, "it leads to itself");
    location = resources_.resolve(location, "$ref", document_[reference].text);
  }
  const bool says_nothing =
      std::all_of(document_[location].members.begin(), document_[location].members.end(),
                  [](const auto& member) { return is_annotation(member.first); });
  if (says_nothing) return schema_terms_[key] = kTrueTerm;
  return schema_terms_[key] = term({Atom::Kind::kSchema, location, scope, ""});
}

ConjunctionId SchemaAlgebra::conjunction(const std::vector<Term>& given) {
  std::vector<Term> terms;
  for (const Term t : given) {
    const Atom& atom = atoms_[static_cast<size_t>(t / 2)];
    const bool nested = atom.kind == Atom::Kind::kConjunction && t % 2 == 0;
    const std::vector<Term> parts =
        nested ? entry(static_cast<ConjunctionId>(atom.detail)).terms : std::vector<Term>{t};
    for (const Term part : parts) {
      if (part == kTrueTerm) continue;
      const auto has = [&terms](Term other) {
        return std::find(terms.begin(), terms.end(), other) != terms.end();
      };
      if (part == kFalseTerm || has(negate(part))) return kNothing;
      if (!has(part)) terms.push_back(part);
    }
  }
  expressions_.spend(1 + terms.size() * terms.size() / kTermsOfStep);
  std::vector<Term> sorted = terms;
  std::sort(sorted.begin(), sorted.end());
  const auto [place, inserted] =
      conjunction_ids_.emplace(std::move(sorted), static_cast<ConjunctionId>(entries_.size()));
  if (inserted) {
    spend(1);
    entries_.push_back(std::make_unique<Entry>());
    entries_.back()->terms = std::move(terms);
  }
  return place->second;
}

ConjunctionId SchemaAlgebra::both(ConjunctionId a, ConjunctionId b) {
  if (a == kAnything || a == b) return b;
  if (b == kAnything) return a;
  std::vector<Term> terms = entry(a).terms;
  terms.insert(terms.end(), entry(b).terms.begin(), entry(b).terms.end());
  return conjunction(terms);
}

ConjunctionId SchemaAlgebra::either(ConjunctionId a, ConjunctionId b) {
  if (a == b) return a;
  return outside(conjunction({negation(a), negation(b)}));
}

Term SchemaAlgebra::negation(ConjunctionId id) {
  const std::vector<Term>& terms = entry(id).terms;
  if (id == kAnything) return kFalseTerm;
  if (terms.size() == 1) return negate(terms[0]);
  return negate(term({Atom::Kind::kConjunction, kNoJson, static_cast<int32_t>(id), ""}));
}

const ValueSet& SchemaAlgebra::values(ConjunctionId id) {
  if (entry(id).values) return *entry(id).values;
  const bool outer = std::exchange(guessed_, false);
  auto result = std::make_unique<ValueSet>(values(everything_, id));
  const ValueSet& kept = *result;
  (guessed_ ? unkept_.emplace_back() : entry(id).values) = std::move(result);
  guessed_ |= outer;
  return kept;
}

ValueSet SchemaAlgebra::values(const ValueSet& within, ConjunctionId id) {
  ValueSet result = within;
  for (const Term part : std::vector<Term>(entry(id).terms)) result = term_values(result, part);
  return result;
}

ValueSet SchemaAlgebra::term_values(const ValueSet& within, Term t) {
  const auto [progress, started] = in_progress_.emplace(t, emptiness_depth_);
  if (!started) {
    if (progress->second == emptiness_depth_) {
      const JsonId location = atoms_[static_cast<size_t>(t / 2)].location;
      refuse("$ref", location, "it leads to itself without a member or an item between");
    }
    guessed_ = true;
    return within;
  }
  if (++depth_ > kMaxDepth) refuse_current("schemas are nested too deeply");
  ValueSet result =
      tracks_evaluated_ ? intersect(within, compute_term(everything_, t)) : compute_term(within, t);
  --depth_;
  in_progress_.erase(t);
  return result;
}

ValueSet SchemaAlgebra::compute_term(const ValueSet& within, Term t) {
  spend(1);
  const Atom atom = atoms_[static_cast<size_t>(t / 2)];
  const bool negated = t % 2 == 1;
  switch (atom.kind) {
    case Atom::Kind::kAlways:
      return negated ? nothing() : within;
    case Atom::Kind::kSchema:
      return negated ? negated_values(within, atom.location, atom.detail)
                     : schema_values(within, atom.location, atom.detail);
    case Atom::Kind::kConstant: {
      const ValueSet set = constants({atom.location});
      return intersect(within, negated ? complement(set) : set);
    }
    case Atom::Kind::kConjunction: {  // positive ones are replaced by their terms
      std::vector<ConjunctionId> parts;
      const std::vector<Term> terms = entry(static_cast<ConjunctionId>(atom.detail)).terms;
      for (const Term part : terms) parts.push_back(conjunction({negate(part)}));
      return unite_all(within, parts);
    }
    case Atom::Kind::kAbsent: {
      ValueSet set = everything();
      set.objects[0].groups = {one_property(atom.name, kNothing)};
      if (negated) {
        set = nothing();
        set.objects.emplace_back();
        set.objects[0].required = {atom.name};
      }
      return intersect(within, set);
    }
  }
  return nothing();
}

const SchemaParts& SchemaAlgebra::parts(JsonId location, SchemaResources::Scope scope) {
  std::unique_ptr<SchemaParts>& known = parts_[{location, scope}];
  if (!known) known = std::make_unique<SchemaParts>(read_schema_parts(*this, location, scope));
  return *known;
}

ValueSet SchemaAlgebra::schema_values(const ValueSet& within, JsonId location,
                                      SchemaResources::Scope scope) {
  const SchemaParts& schema = parts(location, scope);
  ValueSet result = intersect(within, schema.assertions);
  for (const Applicator& applicator : schema.applicators) {
    current_ = {applicator.keyword, applicator.location};
    result = unite_all(result, applicator.satisfied(*this, result));
  }
  apply_unevaluated(result, schema, scope);
  return result;
}

ValueSet SchemaAlgebra::negated_values(const ValueSet& within, JsonId location,
                                       SchemaResources::Scope scope) {
  const SchemaParts& schema = parts(location, scope);
  for (const JsonId keyword : {schema.unevaluated_properties, schema.unevaluated_items}) {
    if (keyword != kNoJson) refuse(document_[keyword].key, keyword, "its schema is negated");
  }
  ValueSet result = intersect(within, complement(schema.assertions));
  for (const Applicator& applicator : schema.applicators) {
    current_ = {applicator.keyword, applicator.location};
    result = unite(result, unite_all(within, applicator.violated(*this, within)));
  }
  if (tracks_evaluated_) {
    for (ObjectSet& set : result.objects) set.evaluated = {};
    for (ArraySet& set : result.arrays) set.evaluated = {};
  }
  return result;
}

ValueSet SchemaAlgebra::unite_all(const ValueSet& within,
                                  const std::vector<ConjunctionId>& conjunctions) {
  if (conjunctions.size() == 1) return values(within, conjunctions[0]);
  ValueSet result = nothing();
  for (const ConjunctionId id : conjunctions) result = unite(result, values(within, id));
  return result;
}

void SchemaAlgebra::apply_unevaluated(ValueSet& set, const SchemaParts& schema,
                                      SchemaResources::Scope scope) {
  if (schema.unevaluated_properties != kNoJson) {
    const ConjunctionId others = conjunction({schema_term(schema.unevaluated_properties, scope)});
    for (ObjectSet& object : set.objects) {
      if (!object.evaluated.all && others != kAnything) {
        PropertyGroup group;
        for (const std::string& name : object.evaluated.names) {
          group.names.emplace_back(name, kAnything);
        }
        for (const ExpressionId pattern : object.evaluated.patterns) {
          group.patterns.emplace_back(pattern, kAnything);
        }
        group.others = others;
        group.ordered = false;
        object.groups.push_back(share(std::move(group)));
      }
      object.evaluated = {};
      object.evaluated.all = true;
    }
  }
  if (schema.unevaluated_items == kNoJson) return;
  const ConjunctionId unevaluated = conjunction({schema_term(schema.unevaluated_items, scope)});
  for (ArraySet& array : set.arrays) {
    ConjunctionId rest = unevaluated;
    for (const ConjunctionId id : array.evaluated.satisfying) rest = either(rest, id);
    if (array.evaluated.count != kNoLimit && rest != kAnything) {
      array.groups.push_back({std::vector<ConjunctionId>(array.evaluated.count, kAnything), rest});
    }
    array.evaluated = {kNoLimit, {}};
  }
}

/// Does work that asks whether something is empty. Returns false if it would look too far.
template <typename Work>
bool SchemaAlgebra::look_into(const Work& work) {
  if (emptiness_depth_ == kMaxEmptinessDepth) return false;
  spend(1);
  ++emptiness_depth_;
  const bool outer = std::exchange(guessed_, false);
  const auto keyword = current_;
  const bool result = work();
  current_ = keyword;
  guessed_ = outer;
  if (--emptiness_depth_ == 0) unkept_.clear();
  return result;
}

bool SchemaAlgebra::is_empty(ConjunctionId id) {
  if (id == kAnything || id == kNothing) return id == kNothing;
  if (entry(id).empty) return *entry(id).empty;
  return look_into([&] {
    const bool result = is_empty(values(id));
    if (result || !guessed_) entry(id).empty = result;
    return result;
  });
}

bool SchemaAlgebra::is_empty(const ValueSet& within, ConjunctionId id) {
  if (id == kNothing) return true;
  return look_into([&] { return is_empty(values(within, id)); });
}

bool SchemaAlgebra::is_empty(const ValueSet& set) {
  const auto possible = [this](const auto& part) { return is_possible(part); };
  return !set.null && !set.booleans[0] && !set.booleans[1] &&
         std::none_of(set.objects.begin(), set.objects.end(), possible) &&
         std::none_of(set.arrays.begin(), set.arrays.end(), possible) &&
         numbers_.is_empty(set.numbers) && text_.is_empty(set.possible_strings);
}

void SchemaAlgebra::spend(uint64_t steps) {
  steps_ += steps;
  expressions_.spend(steps * kStepCost);
  if (steps_ <= kMaxSteps) return;
  refuse_current("it combines too many schemas");
}

void SchemaAlgebra::work_for(ConjunctionId id) {
  if (entry(id).terms.empty()) return;
  current_ = {"the schema", atoms_[static_cast<size_t>(entry(id).terms[0] / 2)].location};
}

void SchemaAlgebra::refuse_current(std::string_view reason) const {
  if (current_.second == kNoJson) fail("the schema cannot be enforced: {}", reason);
  refuse(current_.first, current_.second, reason);
}

void SchemaAlgebra::refuse(std::string_view keyword, JsonId location,
                           std::string_view reason) const {
  fail("{} at {} cannot be enforced: {}", keyword,
       quoted(document_.pointer(std::max(location, JsonId{0}))), reason);
}

void SchemaAlgebra::note_contradiction(std::string_view keyword, JsonId location,
                                       std::string_view reason) {
  if (!contradiction_.empty()) return;
  contradiction_ = fmt::format("{} at {} {}", keyword, quoted(document_.pointer(location)), reason);
}

void SchemaAlgebra::refuse_empty() const {
  if (contradiction_.empty()) fail("no value satisfies the schema");
  fail("no value satisfies the schema: {}", contradiction_);
}

}  // namespace heed::constrain
