#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "heed/constrain/schema/algebra.h"

namespace heed::constrain {

/// Judges JSON texts by a schema: whether they have a value that the constraint of the schema
/// allows. It looks at the sets of values of which SchemaGrammar writes the texts, so that the
/// order of members, white space and the spelling of strings and numbers do not matter.
class SchemaValidator {
 public:
  /// Throws Error as add_json_schema() does, but not for what only a grammar cannot have.
  explicit SchemaValidator(std::string_view schema, const SchemaOptions& options = {});

  /// Why the text is not JSON of an allowed value: "JSON pointer: reason". Nothing if it is. Throws
  /// Error when finding out takes too much memory or time; one that has judged many texts may also
  /// have too little of both left.
  std::optional<std::string> violation(std::string_view text);

 private:
  bool allows(ConjunctionId id, JsonId value);
  bool is_allowed(const ValueSet& set, JsonId value);
  bool allows_number(const NumberSet& set, const std::string& number);
  bool allows_object(const ObjectSet& set, JsonId object);
  bool allows_array(const ArraySet& set, JsonId array);
  bool allows_some(const SomeProperty& some, JsonId object);
  uint64_t count(const SomeItems& some, JsonId array);
  bool has_equal_items(JsonId array) const;
  /// Notes why a value is not allowed. Returns false.
  bool deny(JsonId value, std::string reason);

  Expressions expressions_;
  SchemaAlgebra algebra_;
  ConjunctionId root_;

  // Of the text that is judged:
  JsonDocument instance_;
  /// By `notes_`, too: where it is false a value need not be allowed, and nothing is noted.
  std::map<std::tuple<bool, ConjunctionId, JsonId>, bool> known_;
  bool notes_ = true;
  int depth_ = 0, denied_depth_ = -1;
  std::string denied_;  // the innermost one
};

}  // namespace heed::constrain
