#include "heed/constrain/schema/keywords.h"

#include <algorithm>
#include <array>

#include "heed/constrain/schema/assertions.h"

namespace heed::constrain {

bool is_annotation(std::string_view keyword) {
  static constexpr std::array<std::string_view, 21> kAnnotations = {
      "$anchor",          "$comment", "$defs",       "$dynamicAnchor",  "$id",
      "$recursiveAnchor", "$schema",  "$vocabulary", "contentEncoding", "contentMediaType",
      "contentSchema",    "default",  "definitions", "deprecated",      "description",
      "example",          "examples", "id",          "readOnly",        "title",
      "writeOnly"};
  return std::find(kAnnotations.begin(), kAnnotations.end(), keyword) != kAnnotations.end();
}

JsonId sole_reference(const JsonDocument& document, JsonId schema, Draft draft) {
  JsonId reference = kNoJson;
  bool alone = true;
  for (const auto& [keyword, value] : document[schema].members) {
    if (keyword == "$ref" && document[value].is_string()) {
      reference = value;
    } else {
      alone &= is_annotation(keyword);
    }
  }
  return alone || draft <= Draft::k7 ? reference : kNoJson;
}

std::vector<std::string> read_string_array(const SchemaAlgebra& algebra, JsonId value) {
  const JsonNode& node = algebra.document()[value];
  const auto refuse = [&] {
    const JsonId keyword =
        algebra.document()[node.parent].key == "dependencies" ? node.parent : value;
    algebra.refuse(algebra.document()[keyword].key, value, "it is not an array of strings");
  };
  if (!node.is_array()) refuse();
  std::vector<std::string> strings;
  for (const JsonId item : node.items) {
    if (!algebra.document()[item].is_string()) refuse();
    strings.push_back(algebra.document()[item].text);
  }
  return strings;
}

SchemaParts read_schema_parts(SchemaAlgebra& algebra, JsonId schema, SchemaResources::Scope scope) {
  SchemaParts parts;
  AssertionReader assertions(algebra, schema, scope);
  const Draft draft = algebra.resources().draft(schema);
  for (const auto& [keyword, value] : algebra.document()[schema].members) {
    algebra.spend(1);
    // Draft 7 leaves it open whether these two assert something.
    if (draft == Draft::k7 && (keyword == "contentEncoding" || keyword == "contentMediaType")) {
      algebra.warn(keyword);
    }
    if (is_annotation(keyword) || assertions.read(keyword, value)) continue;
    if (draft >= Draft::k2019 && keyword == "unevaluatedProperties") {
      parts.unevaluated_properties = value;
    } else if (draft >= Draft::k2019 && keyword == "unevaluatedItems") {
      parts.unevaluated_items = value;
    } else if (!read_applicator(algebra, schema, scope, keyword, value, parts.applicators)) {
      algebra.warn(keyword);
    }
  }
  parts.assertions = assertions.finish();
  return parts;
}

}  // namespace heed::constrain
