#pragma once

#include <string>

#include "heed/inspect/attention/attention_capture.h"

namespace heed::inspect {

/// A self-contained HTML page (no network, no other files) that shows every kind, layer and head of
/// a capture as lines between tokens and as heatmaps, with numbers. The current view is part of the
/// address (page.html#kind=cross&layer=2&view=heatmap&head=3, layers and heads counted from 1).
/// Weights are accurate to 1/255. Throws Error as check() does.
std::string attention_page(const AttentionCapture& capture);

}  // namespace heed::inspect
