#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace heed {

/// The smallest number of characters (bytes) to insert, delete, replace or exchange with the next
/// one that makes one word of the other, none of which is changed twice (Damerau 1964). Takes time
/// in proportion to the product of their lengths.
size_t edit_distance(std::string_view a, std::string_view b);

/// The first of the known words of which `word` may be a misspelling, by at most two letters; empty
/// if there is none.
std::string similar_word(std::string_view word, const std::set<std::string, std::less<>>& known);

}  // namespace heed
