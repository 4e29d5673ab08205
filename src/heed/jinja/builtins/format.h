#pragma once

#include "heed/jinja/values/objects.h"

namespace heed::jinja {

/// Python's text.format(*positional, **keywords), with fields that are empty, a number or a name.
Value format_braces(Runtime& runtime, const Text& text, const Arguments& arguments);

}  // namespace heed::jinja
