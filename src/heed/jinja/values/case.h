#pragma once

#include "heed/jinja/values/text.h"

namespace heed::jinja {

enum class Case { upper, lower };

/// str.isupper(), islower().
bool has_case(const Text& text, Case wanted);

/// str.upper(), lower(), title(), capitalize(), appended to `out`.
void append_upper(TextBuilder& out, const Text& text);
void append_lower(TextBuilder& out, const Text& text);
void append_title(TextBuilder& out, const Text& text);
void append_capitalized(TextBuilder& out, const Text& text);

}  // namespace heed::jinja
