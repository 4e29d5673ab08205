#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/constrain/schema/algebra.h"

namespace heed::constrain {

/// Whether a keyword describes a schema and asserts nothing.
bool is_annotation(std::string_view keyword);

/// The value of "$ref" if nothing else in the schema asserts anything; otherwise kNoJson. Up to
/// draft 7 nothing beside "$ref" does.
JsonId sole_reference(const JsonDocument& document, JsonId schema, Draft draft);

/// Reads the keywords of a schema object.
SchemaParts read_schema_parts(SchemaAlgebra& algebra, JsonId schema, SchemaResources::Scope scope);

/// Reads a keyword that combines schemas. Returns whether `keyword` is one, and if it asserts
/// something, appends it.
bool read_applicator(SchemaAlgebra& algebra, JsonId schema, SchemaResources::Scope scope,
                     std::string_view keyword, JsonId value, std::vector<Applicator>& applicators);

/// The schemas that a keyword has as an array. Throws Error unless it has at least one.
std::vector<Term> read_schema_array(SchemaAlgebra& algebra, JsonId value,
                                    SchemaResources::Scope scope);

/// Throws Error unless the value of a keyword is an array of strings.
std::vector<std::string> read_string_array(const SchemaAlgebra& algebra, JsonId value);

/// A regular expression (ECMA-262) for a format, empty if that is unknown. Where it leaves out
/// strings of the format, `possible` is one that matches all of them.
struct FormatPattern {
  std::string pattern, possible = {};
};
FormatPattern format_pattern(std::string_view format);

}  // namespace heed::constrain
