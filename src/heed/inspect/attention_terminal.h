#pragma once

#include <optional>
#include <string>

#include "heed/inspect/attention_capture.h"

namespace heed::inspect {

/// The weights of one head (counted from 0), or the mean of the heads when `head` is absent, as
/// text for a terminal with `columns` columns (at least 20): one row per query token, one column
/// per key token. Weights are written in percent if they fit, else shown as shades; columns that do
/// not fit are omitted and counted in a last line. With `color`, cells use the 256 colours of
/// xterm; without it the output has no escape sequences. Throws Error as map_of() and weights_of()
/// do.
std::string attention_terminal(const AttentionCapture& capture, AttentionKind kind, int layer,
                               std::optional<int> head, int columns, bool color);

}  // namespace heed::inspect
