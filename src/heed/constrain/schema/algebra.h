#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/constrain/schema/json_document.h"
#include "heed/constrain/schema/json_schema.h"
#include "heed/constrain/schema/resources.h"
#include "heed/constrain/schema/text_language.h"
#include "heed/constrain/schema/value_set.h"

namespace heed::constrain {

/// A schema or its negation: twice the number of an atom, plus 1 if it is negated.
using Term = int32_t;
inline constexpr Term kTrueTerm = 0, kFalseTerm = 1;
constexpr Term negate(Term term) { return term ^ 1; }

class SchemaAlgebra;

/// A keyword that combines schemas of the same value: `satisfied` are conjunctions whose union has
/// the values that satisfy it, `violated` those for all others.
struct Applicator {
  /// Only values of `within` matter.
  using Union = std::function<std::vector<ConjunctionId>(SchemaAlgebra&, const ValueSet& within)>;

  std::string_view keyword;
  JsonId location = kNoJson;  // of its value
  Union satisfied, violated;
};

/// A schema object: the values that its assertions allow, intersected with its applicators.
struct SchemaParts {
  ValueSet assertions;
  std::vector<Applicator> applicators;
  JsonId unevaluated_properties = kNoJson, unevaluated_items = kNoJson;
};

/// Computes which values schemas have in common, and which are outside of them. Schemas are
/// normalised one level at a time, when they are asked for.
///
/// Functions throw Error that names the keyword and its JSON pointer for what cannot be enforced,
/// and when the schema takes more steps than are allowed.
class SchemaAlgebra {
 public:
  SchemaAlgebra(Expressions& expressions, const SchemaOptions& options);

  /// Reads a schema. Returns the conjunction that consists of it.
  ConjunctionId read(std::string_view schema);

  const ValueSet& values(ConjunctionId id);
  /// Whether no value satisfies it. False also where finding out would take too long.
  bool is_empty(ConjunctionId id);
  bool is_empty(const ValueSet& set);
  /// The values of `within` that satisfy a conjunction.
  ValueSet values(const ValueSet& within, ConjunctionId id);
  /// Whether no value of `within` satisfies it.
  bool is_empty(const ValueSet& within, ConjunctionId id);

  ConjunctionId conjunction(const std::vector<Term>& terms);
  ConjunctionId both(ConjunctionId a, ConjunctionId b);
  ConjunctionId either(ConjunctionId a, ConjunctionId b);
  /// The complement as a term, and as a conjunction.
  Term negation(ConjunctionId id);
  ConjunctionId outside(ConjunctionId id) { return conjunction({negation(id)}); }

  /// The schema at `location`, seen from a dynamic scope.
  Term schema_term(JsonId location, SchemaResources::Scope scope);
  /// Equal to the value at `location`.
  Term constant_term(JsonId location);
  /// Not an object with the member `name`.
  Term absent_term(const std::string& name);

  ValueSet everything() const;
  ValueSet nothing() const;
  ValueSet constants(const std::vector<JsonId>& locations);
  ValueSet intersect(const ValueSet& a, const ValueSet& b);
  ValueSet unite(const ValueSet& a, const ValueSet& b);
  ValueSet complement(const ValueSet& set);
  /// False if it has no member for sure.
  bool is_possible(const ObjectSet& set);
  bool is_possible(const ArraySet& set);

  /// What the value of the member `name`, if there is one, satisfies.
  ConjunctionId member_value(const ObjectSet& set, const std::string& name);
  bool allows_name(const ObjectSet& set, const std::string& name);
  bool matches_name(ExpressionId names, const std::string& name);
  /// What the item at `position` satisfies.
  ConjunctionId item_value(const ArraySet& set, uint64_t position);

  TextLanguage& text() { return text_; }
  NumberLanguage& numbers() { return numbers_; }
  Expressions& expressions() { return expressions_; }
  const JsonDocument& document() const { return document_; }
  SchemaResources& resources() { return resources_; }
  const SchemaOptions& options() const { return options_; }
  /// Whether "unevaluatedProperties" or "unevaluatedItems" occurs.
  bool tracks_evaluated() const { return tracks_evaluated_; }

  /// Counts work. Throws Error once it is too much.
  void spend(uint64_t steps);
  void warn(const std::string& keyword) { warnings_.insert(keyword); }
  const std::set<std::string>& warnings() const { return warnings_; }
  /// Says that work is done for a conjunction, for messages.
  void work_for(ConjunctionId id);
  /// Throws the Error that `keyword` at `location` cannot be enforced because of `reason`.
  [[noreturn]] void refuse(std::string_view keyword, JsonId location,
                           std::string_view reason) const;
  /// The same for the keyword that work is done for.
  [[noreturn]] void refuse_current(std::string_view reason) const;
  /// Notes that a schema contradicts itself: "minLength at \"/a\" is above maxLength".
  void note_contradiction(std::string_view keyword, JsonId location, std::string_view reason);
  /// Throws the Error that no value satisfies the schema.
  [[noreturn]] void refuse_empty() const;

 private:
  struct Atom {
    enum class Kind : uint8_t { kAlways, kSchema, kConstant, kConjunction, kAbsent };
    Kind kind = Kind::kAlways;
    JsonId location = kNoJson;
    int32_t detail = 0;  // the scope of a schema, or a ConjunctionId
    std::string name;    // of kAbsent, or the canonical text of a constant

    auto operator<=>(const Atom&) const = default;
  };
  struct Entry {
    std::vector<Term> terms;  // in the order of their first use
    std::unique_ptr<ValueSet> values;
    std::optional<bool> empty;
  };

  Term term(const Atom& atom);
  Entry& entry(ConjunctionId id) { return *entries_[static_cast<size_t>(id)]; }
  ValueSet term_values(const ValueSet& within, Term term);
  ValueSet compute_term(const ValueSet& within, Term term);
  ValueSet schema_values(const ValueSet& within, JsonId location, SchemaResources::Scope scope);
  ValueSet negated_values(const ValueSet& within, JsonId location, SchemaResources::Scope scope);
  ValueSet unite_all(const ValueSet& within, const std::vector<ConjunctionId>& conjunctions);
  const SchemaParts& parts(JsonId location, SchemaResources::Scope scope);
  void apply_unevaluated(ValueSet& set, const SchemaParts& parts, SchemaResources::Scope scope);
  std::vector<ObjectSet> complement(const ObjectSet& set);
  std::vector<ArraySet> complement(const ArraySet& set);
  template <typename Work>
  bool look_into(const Work& work);
  std::shared_ptr<const PropertyGroup> one_property(const std::string& name, ConjunctionId value);
  template <typename Set>
  std::vector<Set> intersect_unions(const std::vector<Set>& a, const std::vector<Set>& b);
  template <typename Set>
  void add_unless_there(std::vector<Set>& sets, Set set);

  Expressions& expressions_;
  SchemaOptions options_;
  JsonDocument document_;
  SchemaResources resources_;
  TextLanguage text_;
  NumberLanguage numbers_;
  ValueSet everything_;

  std::vector<Atom> atoms_;
  std::map<Atom, Term> atom_ids_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::map<std::vector<Term>, ConjunctionId> conjunction_ids_;
  std::map<std::pair<std::string, ConjunctionId>, std::shared_ptr<const PropertyGroup>>
      one_property_;
  std::map<std::pair<JsonId, SchemaResources::Scope>, Term> schema_terms_;
  std::map<std::pair<JsonId, SchemaResources::Scope>, std::unique_ptr<SchemaParts>> parts_;
  std::map<std::pair<ExpressionId, std::string>, bool> name_matches_;

  /// Terms that are being computed, with the number of is_empty() calls around each. What
  /// is_empty() asks about a term that is being computed outside of it is answered with "anything":
  /// `guessed_` says that a result depends on that and must not be kept.
  std::map<Term, int> in_progress_;
  int emptiness_depth_ = 0;
  bool guessed_ = false;
  std::vector<std::unique_ptr<ValueSet>> unkept_;
  bool tracks_evaluated_ = false;
  int depth_ = 0;
  uint64_t steps_ = 0;
  std::pair<std::string_view, JsonId> current_ = {"", kNoJson};  // what work is spent on
  std::set<std::string> warnings_;
  std::string contradiction_;
};

}  // namespace heed::constrain
