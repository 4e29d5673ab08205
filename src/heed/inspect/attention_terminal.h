#pragma once

#include <optional>
#include <string>

#include "heed/inspect/attention_capture.h"

namespace heed::inspect {

/// The weights of one head (counted from 0), or the mean of the heads when `head` is absent, as
/// lines of text for a terminal `columns` wide (at least 20): a row a token that looks, a column a
/// token that is looked at. Where there is room the weights are written in percent, else shown as
/// shades; columns that do not fit are left out and counted below. With `color`, cells have one of
/// the 256 colours of xterm, without it nothing but text is written. Throws Error as map_of() and
/// weights_of() do.
std::string attention_terminal(const AttentionCapture& capture, AttentionKind kind, int layer,
                               std::optional<int> head, int columns, bool color);

}  // namespace heed::inspect
