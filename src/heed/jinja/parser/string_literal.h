#pragma once

#include <string>
#include <string_view>

#include "heed/jinja/budget.h"

namespace heed::jinja {

/// What the inside of a string literal stands for: Python's escapes, without \N{...}. Throws Error
/// at `location` for an incomplete escape and for a surrogate.
std::string unescape(std::string_view inside, const SourceLocation& location);

}  // namespace heed::jinja
