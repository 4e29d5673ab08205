#pragma once

#include <cstddef>
#include <string_view>

namespace heed {

/// The smallest number of characters (bytes) to insert, delete or replace that makes one word of
/// the other (Levenshtein 1966). Takes time in proportion to the product of their lengths.
size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace heed
