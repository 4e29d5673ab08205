#pragma once

#include <string>

#include "heed/inspect/attention/attention_capture.h"

namespace heed::inspect {

/// A capture as an HTML element that attention_script() turns into an interactive view: a JSON
/// description and one block of text per head (weight_code.h, base64), so that a page decodes only
/// the heads that it shows. Throws Error as check() does.
std::string attention_data(const AttentionCapture& capture);

}  // namespace heed::inspect
