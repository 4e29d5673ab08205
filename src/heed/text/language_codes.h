#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::text {

/// The language of a tokenizer's code in two letters, where it has some: "en" for "en", "en_XX" and
/// "eng_Latn" (ISO 639-1 for ISO 639-3). A script stays if a language is written in several
/// ("zho_Hant" is "zh-Hant").
std::string short_language(std::string_view code);

/// The first code whose short form is that of `language`, or which is `language` itself; empty:
/// none.
std::string code_of_language(const std::vector<std::string>& codes, std::string_view language);

}  // namespace heed::text
