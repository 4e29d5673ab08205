#pragma once

#include <optional>
#include <string>

#include "heed/inspect/attention_capture.h"

namespace heed::inspect {

enum class AttentionFigure {
  lines,   ///< two columns of tokens; the opacity of a line is its weight; none below 1 %
  heatmap  ///< the darkness of a cell is the square root of its weight; empty below 0.1 %
};

/// An SVG figure of one head (counted from 0), or of the mean of the heads when `head` is absent,
/// with a title and the tokens as text. Throws Error as map_of() and weights_of() do.
std::string attention_svg(const AttentionCapture& capture, AttentionKind kind, int layer,
                          std::optional<int> head, AttentionFigure figure = AttentionFigure::lines);

}  // namespace heed::inspect
