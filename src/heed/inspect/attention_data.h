#pragma once

#include <cstdint>
#include <string>

#include "heed/inspect/attention_capture.h"

namespace heed::inspect {

/// What attention_data() may write for the weights of one page, in bytes.
inline constexpr int64_t kPageBudget = int64_t{50} << 20;

/// A capture as an HTML element that attention_script() turns into an interactive view: a
/// description in JSON, then one block of text a head (weight_code.h, base64), so that a page can
/// decode what it shows and nothing else. Small weights are dropped until the blocks fit `budget`
/// bytes, at most those below 1/255; the page says below which. Throws Error as check() does.
std::string attention_data(const AttentionCapture& capture, int64_t budget = kPageBudget);

}  // namespace heed::inspect
