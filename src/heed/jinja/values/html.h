#pragma once

#include "heed/jinja/values/text.h"

namespace heed::jinja {

/// Appends `text` with & < > " ' escaped as markupsafe does; markup as it is.
void append_escaped(TextBuilder& out, const Text& text);

/// Appends `text` to a text that becomes Markup, so that it is escaped, or to one that does not.
void append_part(TextBuilder& out, const Text& text, bool markup);

}  // namespace heed::jinja
