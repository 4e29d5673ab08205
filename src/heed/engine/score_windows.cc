#include "heed/engine/score_windows.h"

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/model/check_input.h"
#include "heed/tasks/scorer.h"
#include "heed/text/utf8.h"

namespace heed::engine {

std::vector<TextWindow> windows_of(const LoadedModel& model, std::string_view text,
                                   const ScoreOptions& options) {
  const model::Transformer& transformer = *model.transformer;
  require(transformer.has_decoder() && !transformer.has_encoder(),
          "{} is {} and cannot score a text, expected a decoder-only model", model.path.string(),
          model.kind());
  const text::Tokenizer& tokenizer = model.shared_tokenizer("scoring a text");
  text::require_utf8(text, "the text");
  const std::vector<int32_t> tokens = tokenizer.encode(text);
  require_input(tokens.size() >= 2, "expected at least 2 tokens, found {}: the first is not scored",
                tokens.size());
  model::check_tokens(transformer.config(), tokens);
  std::vector<TextWindow> windows;
  for (const auto& [begin, end, scored] :
       tasks::score_windows(transformer, static_cast<int64_t>(tokens.size()), options))
    windows.push_back({{tokens.begin() + begin, tokens.begin() + end}, scored});
  return windows;
}

std::vector<double> score(const LoadedModel& model, const TextWindow& window) {
  const ExecutorScope scope(*model.executor);
  return tasks::score_window(*model.transformer, window.tokens, window.scored, model.activations(),
                             model.cache());
}

}  // namespace heed::engine
