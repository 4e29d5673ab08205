#pragma once

#include <string>
#include <string_view>

namespace heed::text {

/// Replaces every `wanted`, from left to right, by `with`. An empty one is nowhere.
void replace_all(std::string& text, std::string_view wanted, std::string_view with);

/// Takes away the spaces that WordPiece puts before punctuation and contractions.
void clean_up(std::string& text);

}  // namespace heed::text
