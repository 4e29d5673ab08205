#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/constrain/constraint.h"
#include "heed/constrain/grammar.h"
#include "heed/generation.h"

namespace heed::constrain {

struct SchemaOptions {
  JsonWhiteSpace white_space = JsonWhiteSpace::free;
  /// Whether "format" restricts strings; otherwise it says nothing.
  bool formats = true;
  /// Schemas that "$ref" may name, by their URI. Nothing is fetched.
  std::map<std::string, std::string> documents = {};
};

/// Adds the JSON texts that a JSON Schema (draft 4, 6, 7, 2019-09 or 2020-12, by "$schema"; 2020-12
/// unless it has one) allows to a grammar. Members of objects are written in the order in which the
/// schema has them, and others after these. Strings are spelled as TextLanguage says wherever they
/// are restricted, and integers without a fraction.
///
/// Every assertion is enforced exactly, but for one: a name that the schema does not list may occur
/// twice, so that minProperties counts one member too many. Throws Error that names keyword and
/// JSON pointer for one that cannot be, for a schema that no value satisfies and for one that takes
/// too much memory or time. Appends to `warnings`, if given, the keywords that assert nothing in
/// the schema's draft.
Symbol add_json_schema(GrammarBuilder& builder, std::string_view schema,
                       const SchemaOptions& options = {},
                       std::vector<std::string>* warnings = nullptr);

/// A constraint of these texts alone.
std::shared_ptr<const Constraint> compile_json_schema(std::string_view schema,
                                                      const SchemaOptions& options = {},
                                                      std::vector<std::string>* warnings = nullptr);

}  // namespace heed::constrain
