#pragma once

#include <string>

#include "heed/inspect/attention/attention_capture.h"

namespace heed::inspect {

enum class AttentionFigure {
  lines,   ///< two columns of tokens; the opacity of a line is its weight; none below 1 %
  heatmap  ///< the darkness of a cell is the square root of its weight; empty below 0.1 %
};

/// An SVG figure of one map with a title and the tokens as text. Throws Error as check() does, and
/// when the map lacks some keys.
std::string attention_svg(const AttentionTexts& texts, const HeadMap& map,
                          AttentionFigure figure = AttentionFigure::lines);

}  // namespace heed::inspect
