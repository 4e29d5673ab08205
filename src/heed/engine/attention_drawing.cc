#include "heed/attention_drawing.h"

#include "heed/base/parallel.h"
#include "heed/engine/loaded_model.h"
#include "heed/inspect/attention/attention_page.h"
#include "heed/inspect/attention/attention_svg.h"
#include "heed/inspect/attention/attention_terminal.h"
#include "heed/inspect/attention/capture.h"

namespace heed {
namespace {

inspect::HeadChoice choice_of(const model::Transformer& model, const AttentionOptions& options) {
  inspect::HeadChoice choice =
      options.kind ? inspect::default_choice(model, *options.kind) : inspect::default_choice(model);
  if (options.layer) choice.layer = *options.layer;
  if (options.head) choice.head = *options.head;
  inspect::check(model, choice);
  return choice;
}

AttentionDrawing drawn(std::string drawing, inspect::AttentionTexts texts) {
  return {std::move(drawing), std::move(texts.source_text), std::move(texts.target_text)};
}

/// `draw` makes a drawing of the texts, the kind of attention, and a function that captures the
/// chosen head.
template <typename Draw>
AttentionDrawing draw_head(const Model& model, const std::string& text,
                           const AttentionDrawingOptions& options, const Draw& draw) {
  const engine::LoadedModel& loaded = engine::loaded(model);
  const ExecutorScope scope(*loaded.executor);
  const model::Transformer& transformer = *loaded.transformer;
  const inspect::HeadChoice choice = choice_of(transformer, options.attention);
  const inspect::ModelInput input = loaded.attention_input(text, options.attention);
  inspect::AttentionTexts texts = inspect::texts_of(transformer, input);
  texts.model_name = options.model_name;
  std::string drawing = draw(texts, choice.kind, [&](auto... max_keys) {
    return inspect::capture_head(transformer, input, choice, max_keys...);
  });
  return drawn(std::move(drawing), std::move(texts));
}

template <typename Draw>
AttentionDrawing draw_all(const Model& model, const std::string& text,
                          const AttentionDrawingOptions& options, const Draw& draw) {
  const engine::LoadedModel& loaded = engine::loaded(model);
  const ExecutorScope scope(*loaded.executor);
  inspect::AttentionCapture capture = inspect::capture_attention(
      *loaded.transformer, loaded.attention_input(text, options.attention));
  capture.texts.model_name = options.model_name;
  std::string drawing = draw(capture);
  return drawn(std::move(drawing), std::move(capture.texts));
}

}  // namespace

void require_attention(const Model& model, const AttentionOptions& options) {
  choice_of(*engine::loaded(model).transformer, options);
}

AttentionDrawing attention_text(const Model& model, const std::string& text,
                                const AttentionDrawingOptions& options) {
  return draw_head(model, text, options, [&](const auto& texts, auto kind, const auto& capture) {
    return inspect::attention_terminal(texts,
                                       capture(inspect::keys_shown(texts, kind, options.columns)),
                                       options.columns, options.color);
  });
}

AttentionDrawing attention_svg(const Model& model, const std::string& text,
                               const AttentionDrawingOptions& options) {
  using inspect::AttentionFigure;
  return draw_head(model, text, options, [&](const auto& texts, auto, const auto& capture) {
    return inspect::attention_svg(
        texts, capture(), options.heatmap ? AttentionFigure::heatmap : AttentionFigure::lines);
  });
}

AttentionDrawing attention_page(const Model& model, const std::string& text,
                                const AttentionDrawingOptions& options) {
  return draw_all(model, text, options, inspect::attention_page);
}

AttentionDrawing attention_element(const Model& model, const std::string& text,
                                   const AttentionDrawingOptions& options) {
  return draw_all(model, text, options, inspect::attention_element);
}

}  // namespace heed
