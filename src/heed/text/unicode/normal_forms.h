#pragma once

#include <string>
#include <string_view>

namespace heed::text {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// A normal form of Unicode (annex 15), for the version of Unicode in Python's `tokenizers`.
/// `text` is valid UTF-8. `at_start` is NormalizedText::at_start, which is updated.
std::string normal_form(std::string_view text, NormalForm form, size_t& at_start);

}  // namespace heed::text
