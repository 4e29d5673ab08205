#pragma once

#include <string>
#include <string_view>

namespace heed::text {

/// Replaces every `wanted`, from left to right, by `with`. Does nothing when `wanted` is empty.
void replace_all(std::string& text, std::string_view wanted, std::string_view with);

/// Removes spaces before punctuation and contractions, as transformers'
/// clean_up_tokenization_spaces does.
void clean_up(std::string& text);

}  // namespace heed::text
