#pragma once

#include "heed/jinja/values/text.h"

namespace heed::jinja {

/// Appends `text` with & < > " ' escaped as markupsafe does; markup as it is.
void append_escaped(TextBuilder& out, const Text& text);

}  // namespace heed::jinja
