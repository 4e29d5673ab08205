#pragma once

#include "heed/jinja/values/objects.h"

namespace heed::jinja {

/// Python's text % value.
Value format_percent(Runtime& runtime, const Text& text, const Value& value);
/// Python's text.format(*positional, **keywords).
Value format_braces(Runtime& runtime, const Text& text, const Arguments& arguments);

}  // namespace heed::jinja
