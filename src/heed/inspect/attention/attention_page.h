#pragma once

#include <string>

#include "heed/inspect/attention/attention_capture.h"

namespace heed::inspect {

/// A capture as an HTML element that page::attention_js turns into an interactive view: a JSON
/// description and one block of text per head (weight_encoding.h, base64), so that a page decodes
/// only the heads that it shows. Throws Error as check() does.
std::string attention_element(const AttentionCapture& capture);

/// A self-contained HTML page (no network, no other files) that shows every kind, layer and head of
/// a capture as lines between tokens and as heatmaps, with numbers. The current view is part of the
/// address (page.html#kind=cross&layer=2&view=heatmap&head=3, layers and heads counted from 0).
/// Weights are accurate to 1/255. Throws Error as check() does.
std::string attention_page(const AttentionCapture& capture);

}  // namespace heed::inspect
