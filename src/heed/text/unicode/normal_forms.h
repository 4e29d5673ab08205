#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::text {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// A normal form of Unicode (annex 15), for the version of Unicode in Python's `tokenizers`.
/// `text` is valid UTF-8. `at_start` is NormalizedText::at_start, which is updated.
/// `sources`, if it is not null, gets for each byte of the result the byte of `text` at which the
/// code point begins that it comes from; of several that are composed, the first.
std::string normal_form(std::string_view text, NormalForm form, size_t& at_start,
                        std::vector<size_t>* sources = nullptr);

}  // namespace heed::text
