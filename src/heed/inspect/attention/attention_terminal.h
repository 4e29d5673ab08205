#pragma once

#include <optional>
#include <string>

#include "heed/inspect/attention/attention_capture.h"

namespace heed::inspect {

/// The number of keys that attention_terminal() shows: those that fit `columns` columns.
int64_t keys_shown(const AttentionTexts& texts, AttentionKind kind, int columns);

/// A map as text for a terminal with `columns` columns (at least 20): one row per query token, one
/// column per key token. Weights are written in percent if they fit, else shown as shades; columns
/// that do not fit are omitted and counted in a last line. With `color`, cells use the 256 colours
/// of xterm; without it the output has no escape sequences. Throws Error as check() does, and when
/// the map has fewer keys than keys_shown().
std::string attention_terminal(const AttentionTexts& texts, const HeadMap& map, int columns,
                               bool color);

}  // namespace heed::inspect
