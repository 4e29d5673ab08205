#pragma once

#include <string>

#include "heed/inspect/attention_capture.h"

namespace heed::inspect {

/// One self-contained HTML page (no network, no further files) in which every kind, layer and head
/// of a capture can be looked at: as lines between tokens and as heatmaps, with the numbers. The
/// view that is shown is part of the address (page.html#kind=cross&layer=2&view=heatmap&head=3,
/// layers and heads counted from 1). Weights are within 1/255. Throws Error as check() does.
std::string attention_page(const AttentionCapture& capture);

}  // namespace heed::inspect
