#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/constrain/schema/algebra.h"
#include "heed/constrain/schema/decimal.h"

namespace heed::constrain {

/// Reads the assertions of one schema object.
class AssertionReader {
 public:
  AssertionReader(SchemaAlgebra& algebra, JsonId schema, SchemaResources::Scope scope)
      : algebra_(algebra),
        document_(algebra.document()),
        schema_(schema),
        scope_(scope),
        draft_(algebra.resources().draft(schema)),
        set_(algebra.everything()) {}

  /// Returns whether `keyword` is an assertion of the schema's draft.
  bool read(std::string_view keyword, JsonId value);
  /// The values that satisfy all of them.
  ValueSet finish();

 private:
  using Handler = void (AssertionReader::*)(JsonId);

  [[noreturn]] void refuse(JsonId value, std::string_view reason) const {
    algebra_.refuse(keyword_, value, reason);
  }
  ConjunctionId subschema(JsonId value) {
    return algebra_.conjunction({algebra_.schema_term(value, scope_)});
  }
  uint64_t count(JsonId value) const;
  std::optional<uint64_t> sibling_count(std::string_view keyword) const;
  Decimal number(JsonId value) const;
  /// The regular expression `pattern`, which stands at `value`.
  ExpressionId matching(const std::string& pattern, JsonId value);
  ExpressionId of_format(const std::string& pattern, JsonId value);
  void restrict_strings(ExpressionId strings);
  void check_sizes(uint64_t min, uint64_t max, JsonId value);

  void type(JsonId value);
  void enumeration(JsonId value);
  void constant(JsonId value) { constants_ = {value}, has_constants_ = true; }
  void multiple_of(JsonId value);
  void bound(JsonId value);
  void length(JsonId value);
  void pattern(JsonId value);
  void format(JsonId value);
  void properties(JsonId value);
  void pattern_properties(JsonId value);
  void additional_properties(JsonId value);
  void property_names(JsonId value);
  void required(JsonId value);
  void object_size(JsonId value);
  void items(JsonId value);
  void prefix_items(JsonId value);
  void additional_items(JsonId value);
  void contains(JsonId value);
  void nothing_alone(JsonId) {}
  void array_size(JsonId value);
  void unique_items(JsonId value);

  SchemaAlgebra& algebra_;
  const JsonDocument& document_;
  JsonId schema_;
  SchemaResources::Scope scope_;
  Draft draft_;
  std::string_view keyword_;
  ValueSet set_;
  ObjectSet object_;
  PropertyGroup group_;
  ArraySet array_;
  ItemGroup items_;
  std::vector<JsonId> constants_;
  bool has_constants_ = false;
};

}  // namespace heed::constrain
