#pragma once

#include "heed/text/unicode/char_set.h"

namespace heed::text {

/// Adds to a set the other cases of its members: to k also K and U+212A (the Kelvin sign).
void add_other_cases(CodePointRanges& set);

}  // namespace heed::text
