#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/constrain/schema/json_document.h"

namespace heed::constrain {

/// The editions of JSON Schema that heed knows.
enum class Draft : uint8_t { k4, k6, k7, k2019, k2020 };

/// The schema resources of a document: which URI, which anchors and which draft each has (JSON
/// Schema Core 2020-12, section 8).
class SchemaResources {
 public:
  explicit SchemaResources(const JsonDocument& document) : document_(document) {}

  /// Finds the resources of a schema that was read from `uri`, "" if that is unknown. Throws Error
  /// if "$schema" names an unknown draft.
  void add(JsonId root, const std::string& uri);

  Draft draft(JsonId schema) const { return resource(schema).draft; }
  /// The schema that "$ref": `reference` of the schema `from` means. Throws Error if there is none:
  /// nothing is fetched.
  JsonId resolve(JsonId from, std::string_view keyword, const std::string& reference) const;

  /// The resources that were entered before a schema, as far as "$dynamicRef" and "$recursiveRef"
  /// can tell them apart.
  using Scope = int32_t;
  static constexpr Scope kEmptyScope = 0;
  /// `scope` once `schema` has been entered.
  Scope enter(Scope scope, JsonId schema);
  /// The schema that "$dynamicRef": `reference` means, or "$recursiveRef".
  JsonId resolve_dynamic(JsonId from, std::string_view keyword, const std::string& reference,
                         Scope scope) const;

 private:
  struct Resource {
    JsonId root = kNoJson;
    std::string uri;
    Draft draft = Draft::k2020;
    std::map<std::string, JsonId, std::less<>> anchors, dynamic_anchors;
  };
  const Resource& resource(JsonId schema) const { return resources_[index(schema)]; }
  size_t index(JsonId schema) const { return resource_of_[static_cast<size_t>(schema)]; }
  void visit(JsonId schema, size_t parent);
  size_t begin_resource(JsonId schema, const std::string& uri, Draft draft);
  size_t identify(JsonId schema, size_t parent);

  const JsonDocument& document_;
  std::vector<Resource> resources_;
  std::vector<size_t> resource_of_;       // of each value
  std::map<std::string, size_t> by_uri_;  // without fragments
  std::vector<std::vector<size_t>> scopes_ = {{}};
  std::map<std::vector<size_t>, Scope> scope_ids_ = {{{}, kEmptyScope}};
};

/// Calls visit(child) for each schema that is a value of the keyword `name` of a schema.
template <typename Visit>
void for_each_subschema(const JsonDocument& document, std::string_view name, JsonId value,
                        const Visit& visit) {
  static constexpr std::string_view kSchemas[] = {"additionalItems",
                                                  "additionalProperties",
                                                  "contains",
                                                  "contentSchema",
                                                  "else",
                                                  "if",
                                                  "items",
                                                  "not",
                                                  "propertyNames",
                                                  "then",
                                                  "unevaluatedItems",
                                                  "unevaluatedProperties"};
  static constexpr std::string_view kLists[] = {"allOf", "anyOf", "items", "oneOf", "prefixItems"};
  static constexpr std::string_view kMaps[] = {
      "$defs",      "definitions",       "dependencies",
      "properties", "patternProperties", "dependentSchemas"};
  const JsonNode& node = document[value];
  const auto is_in = [name](const auto& names) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  if (node.is_array() && is_in(kLists)) {
    for (const JsonId item : node.items) visit(item);
  } else if (node.is_object() && is_in(kMaps)) {
    for (const auto& [key, member] : node.members) visit(member);
  } else if (is_in(kSchemas)) {
    visit(value);
  }
}

}  // namespace heed::constrain
