#pragma once

#include <string>

#include "heed/jinja/values/text.h"
#include "heed/jinja/values/value.h"

namespace heed::jinja {

/// Python's str(value), appended to `out`; marks of strings are kept.
void append_str(Runtime& runtime, TextBuilder& out, const Value& value);
/// Python's repr(value).
void append_repr(Runtime& runtime, TextBuilder& out, const Value& value);
/// str(value); the text itself if it is one.
Value str_of(Runtime& runtime, const Value& value);

/// Python's repr() of a float: the shortest digits that read back as the same number.
std::string repr_of(double value);

}  // namespace heed::jinja
