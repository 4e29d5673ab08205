#pragma once

#include <optional>
#include <string>

#include "heed/inspect/attention_capture.h"

namespace heed::inspect {

enum class AttentionFigure {
  lines,   ///< two columns of tokens, a line as opaque as its weight; those below 1 % are left out
  heatmap  ///< a square as dark as the root of its weight; those below 0.1 % stay empty
};

/// A figure for a paper: one head (counted from 0), or the mean of the heads when `head` is absent,
/// as an SVG document with a title and the tokens as text. Throws Error as map_of() and
/// weights_of() do.
std::string attention_svg(const AttentionCapture& capture, AttentionKind kind, int layer,
                          std::optional<int> head, AttentionFigure figure = AttentionFigure::lines);

}  // namespace heed::inspect
