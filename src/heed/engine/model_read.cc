#include <string_view>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/engine/loaded_model.h"
#include "heed/engine/score_windows.h"
#include "heed/generate/input_error.h"
#include "heed/model.h"
#include "heed/tasks/fill.h"
#include "heed/tasks/scorer.h"
#include "heed/text/utf8.h"

namespace heed {
namespace {

/// Replaces [MASK] and <mask> by the tokenizer's mask token.
std::string with_masks(std::string text, const std::string& mask) {
  for (const std::string_view other : {"[MASK]", "<mask>"})
    for (size_t at = 0; other != mask && (at = text.find(other, at)) != std::string::npos;
         at += mask.size())
      text.replace(at, other.size(), mask);
  return text;
}

void check_texts(const std::vector<std::string>& texts, int64_t first_number) {
  engine::check_count("first_number", first_number);
  for (size_t i = 0; i < texts.size(); ++i)
    generate::name_input("text", first_number + static_cast<int64_t>(i),
                         [&] { text::require_utf8(texts[i], "the text"); });
}

}  // namespace

std::vector<float> Model::embed(const std::string& text, const EmbedOptions& options) const {
  return embed_batch({text}, options).front();
}

std::vector<std::vector<float>> Model::embed_batch(const std::vector<std::string>& texts,
                                                   const EmbedOptions& options,
                                                   int64_t first_number) const {
  const ExecutorScope scope(*loaded_->executor);
  const tasks::Embedder embedder = loaded_->embedder(options);
  check_texts(texts, first_number);
  return embedder.embed(texts, first_number);
}

void Model::embed_batch(const std::vector<std::string>& texts, std::span<float> embeddings,
                        const EmbedOptions& options, int64_t first_number) const {
  const ExecutorScope scope(*loaded_->executor);
  const tasks::Embedder embedder = loaded_->embedder(options);
  check_texts(texts, first_number);
  embedder.embed(texts, embeddings, first_number);
}

Score Model::score(std::string_view text, const ScoreOptions& options) const {
  const ExecutorScope scope(*loaded_->executor);
  Score score;
  for (const engine::TextWindow& window : engine::windows_of(*loaded_, text, options)) {
    const std::vector<double> scores = engine::score(*loaded_, window);
    // The tokens before those that are scored belong to earlier windows, too, except of the first.
    const auto known = static_cast<std::ptrdiff_t>(
        score.tokens.empty() ? 0 : window.tokens.size() - scores.size());
    score.tokens.insert(score.tokens.end(), window.tokens.begin() + known, window.tokens.end());
    score.log_probabilities.insert(score.log_probabilities.end(), scores.begin(), scores.end());
  }
  return score;
}

Score Model::score_pair(std::string_view source, std::string_view target) const {
  const ExecutorScope scope(*loaded_->executor);
  const model::Transformer& transformer = *loaded_->transformer;
  require(transformer.has_decoder() && transformer.has_encoder(),
          "{} is {} and cannot score a pair of texts, expected an encoder-decoder",
          loaded_->path.string(), loaded_->kind());
  const text::ModelTokenizer& tokenizer = loaded_->tokenizer.value();
  text::require_utf8(source, "the source");
  text::require_utf8(target, "the target");
  Score score{tokenizer.encode_target(target), {}};
  score.log_probabilities = tasks::score_target(transformer, tokenizer.encode_source(source),
                                                score.tokens, loaded_->activations());
  return score;
}

FilledText Model::fill(std::string_view text, int64_t top) const {
  const ExecutorScope scope(*loaded_->executor);
  tasks::require_fills_masks(*loaded_->transformer);
  loaded_->require_f32_activations("filling masks");
  const text::Tokenizer& tokenizer = loaded_->shared_tokenizer("filling masks");
  const auto mask = tokenizer.special_tokens().mask;
  require(mask.has_value(), "{}: the tokenizer has no mask token", loaded_->path.string());
  text::require_utf8(text, "the text");
  FilledText filled;
  filled.tokens = tokenizer.encode(with_masks(std::string(text), tokenizer.piece(*mask)));
  filled.masks = tasks::fill_masks(*loaded_->transformer, filled.tokens, *mask, top);
  return filled;
}

}  // namespace heed
