#pragma once

#include <vector>

#include "heed/jinja/builtins/builtins.h"

namespace heed::jinja {

/// The argument `attribute` of filters: "a.b.0" leads to value["a"]["b"][0].
class AttributePath {
 public:
  /// `path`: a string, an int, or none for the value itself.
  AttributePath(Runtime& runtime, const Value& path);
  /// `otherwise` stands for what is undefined, unless it is none.
  Value get(Runtime& runtime, Value value, const Value& otherwise = Value::none()) const;

 private:
  std::vector<Value> parts_;
};

/// Paths that commas separate, as "sort" has them. The key of a value is a list.
std::vector<AttributePath> attribute_paths(Runtime& runtime, const Value& paths);

/// A string in lower case; other values as they are.
Value without_case(Runtime& runtime, const Value& value);

}  // namespace heed::jinja
