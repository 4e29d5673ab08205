#pragma once

#include <cstdint>
#include <string>

#include "heed/inspect/attention_capture.h"

namespace heed::inspect {

/// The default limit in bytes on the encoded weights of one page.
inline constexpr int64_t kPageBudget = int64_t{50} << 20;

/// A capture as an HTML element that attention_script() turns into an interactive view: a
/// description in JSON and one block of text per head (weight_code.h, base64), so that a page
/// decodes only what it shows. Weights below a threshold of at most 1/255 are dropped to fit
/// `budget` bytes; the page states the threshold. Throws Error as check() does.
std::string attention_data(const AttentionCapture& capture, int64_t budget = kPageBudget);

}  // namespace heed::inspect
