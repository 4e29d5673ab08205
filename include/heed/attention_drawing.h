#pragma once

#include <string>

#include "heed/attention.h"
#include "heed/export.h"

namespace heed {

class Model;

/// The attention to draw, and the form of the drawing.
struct AttentionDrawingOptions {
  /// The target, the languages, and for all but a page the layer and the head; without them the
  /// last layer and the mean of its heads. Without a kind: cross-attention, or self-attention if
  /// the model has a single stack.
  /// max_weights has no effect.
  AttentionOptions attention = {};
  std::string model_name = {};  // for titles
  bool heatmap = false;         // of an SVG: cells instead of lines between two columns of tokens
  int columns = 100;            // of a terminal, at least 20; keys that do not fit are left out
  bool color = false;           // of a terminal: the 256 colours of xterm
};

/// A drawing, and the texts of the tokens that the stacks have read.
struct AttentionDrawing {
  std::string drawing;                   // text, SVG or HTML
  std::string source_text, target_text;  // empty if the model has no such stack
};

/// Throws Error unless the model has the layer and the head of this kind.
HEED_EXPORT void require_attention(const Model& model, const AttentionOptions& options);

/// The attention weights of one head, or of the mean of the heads, as text for a terminal: one row
/// per query token, one column per key token. They throw Error as Model::attention() does.
HEED_EXPORT AttentionDrawing attention_text(const Model& model, const std::string& text,
                                            const AttentionDrawingOptions& options = {});
/// The same as an SVG figure.
HEED_EXPORT AttentionDrawing attention_svg(const Model& model, const std::string& text,
                                           const AttentionDrawingOptions& options = {});
/// All layers and heads as an interactive HTML page, self-contained; weights are accurate to 1/255.
HEED_EXPORT AttentionDrawing attention_page(const Model& model, const std::string& text,
                                            const AttentionDrawingOptions& options = {});
/// The contents of such a page as an HTML element, for a page that has its script.
HEED_EXPORT AttentionDrawing attention_element(const Model& model, const std::string& text,
                                               const AttentionDrawingOptions& options = {});

}  // namespace heed
