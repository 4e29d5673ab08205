#pragma once

#include <nlohmann/json_fwd.hpp>

#include "heed/jinja/values/text.h"
#include "heed/jinja/values/value.h"

namespace heed::jinja {

/// A value of the context; its strings, keys included, are marked as input if `input`. Throws Error
/// for an integer beyond 64 bits with sign and for invalid UTF-8.
Value from_json(Runtime& runtime, const nlohmann::ordered_json& json, bool input);

/// How json.dumps() writes.
struct JsonLayout {
  bool ascii = false, sort_keys = false, lines = false;
  std::string indent = {};  // of a level; used if `lines`
  std::string item_separator = ", ", key_separator = ": ";
};
/// Appends json.dumps(value). Throws Error for values that JSON does not have.
void append_json(Runtime& runtime, TextBuilder& out, const Value& value, const JsonLayout& layout);

}  // namespace heed::jinja
