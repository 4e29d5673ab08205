#pragma once

#include <cstddef>
#include <string_view>

namespace heed {

/// The smallest number of characters (bytes) to insert, delete, replace or exchange with the next
/// one that makes one word of the other, none of which is changed twice (Damerau 1964). Takes time
/// in proportion to the product of their lengths.
size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace heed
