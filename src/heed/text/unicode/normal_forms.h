#pragma once

#include <string>
#include <string_view>

namespace heed::text {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// A normal form of Unicode (annex 15), for the version of it that Python's `tokenizers` knows.
/// `text` is valid UTF-8. `at_start` is NormalizedText's, before and after.
std::string normal_form(std::string_view text, NormalForm form, size_t& at_start);

}  // namespace heed::text
