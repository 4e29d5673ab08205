#include <string_view>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/engine/loaded_model.h"
#include "heed/model.h"
#include "heed/model/check_input.h"
#include "heed/tasks/fill.h"
#include "heed/tasks/hidden_states.h"
#include "heed/tasks/multi_vector_embedder.h"
#include "heed/tasks/scorer.h"
#include "heed/tasks/sparse_embedder.h"
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

/// Throws InputError on options that only vectors of whole texts have.
void require_for_single_vectors(const EmbedOptions& options) {
  require_input(
      !options.pooling && !options.normalize && !options.dimensions && !options.window,
      "pooling, normalize, dimensions and window are of embed(), which gives one dense vector of "
      "a text");
}

/// The vectors that an embedder of tokens or of a vocabulary makes of texts; `change` may change
/// its options.
template <typename Embedder>
auto embed_by(const engine::LoadedModel& model, const std::vector<std::string>& texts,
              const EmbedOptions& options, int64_t first_number,
              void (*change)(tasks::EmbedderOptions& made) = nullptr) {
  const ExecutorScope scope(*model.executor);
  require_for_single_vectors(options);
  engine::require_utf8_texts(texts, "text", first_number);
  tasks::EmbedderOptions made = model.embedder_options(options);
  if (change) change(made);
  return Embedder(*model.transformer, model.shared_tokenizer("embedding"), std::move(made))
      .embed(texts, first_number);
}

void require_scores_texts(const engine::LoadedModel& model) {
  model.require_task(&ModelTasks::score);
  require(model.transformer->has_decoder() && !model.transformer->has_encoder(),
          "{} is {} and cannot score a text, expected a decoder-only model", model.path.string(),
          model.kind());
}

}  // namespace

std::vector<float> Model::embed(const std::string& text, const EmbedOptions& options) const {
  return embed_batch({text}, options).front();
}

std::vector<std::vector<float>> Model::embed_batch(const std::vector<std::string>& texts,
                                                   const EmbedOptions& options,
                                                   int64_t first_number) const {
  const ExecutorScope scope(*loaded_->executor);
  const auto embedder = loaded_->embedder(options);
  engine::require_utf8_texts(texts, "text", first_number);
  return embedder->embed(texts, first_number);
}

void Model::embed_batch(const std::vector<std::string>& texts, std::span<float> embeddings,
                        const EmbedOptions& options, int64_t first_number) const {
  const ExecutorScope scope(*loaded_->executor);
  const auto embedder = loaded_->embedder(options);
  engine::require_utf8_texts(texts, "text", first_number);
  embedder->embed(texts, embeddings, first_number);
}

std::vector<std::vector<float>> Model::embed_tokens(const std::vector<std::vector<int32_t>>& texts,
                                                    const EmbedOptions& options,
                                                    int64_t first_number) const {
  const ExecutorScope scope(*loaded_->executor);
  engine::check_count("first_number", first_number);
  const auto embedder = loaded_->embedder(options);
  const model::ModelConfig& config = loaded_->transformer->config();
  for (size_t i = 0; i < texts.size(); ++i)
    name_input("text", first_number + static_cast<int64_t>(i), [&] {
      model::check_tokens(config, texts[i]);
      model::check_length(config, texts[i]);
    });
  return embedder->embed_tokens(texts);
}

std::vector<std::vector<WindowEmbedding>> Model::embed_windows(
    const std::vector<std::string>& texts, const EmbedOptions& options,
    int64_t first_number) const {
  const ExecutorScope scope(*loaded_->executor);
  const auto embedder = loaded_->embedder(options);
  engine::require_utf8_texts(texts, "text", first_number);
  return embedder->embed_windows(texts, first_number);
}

std::vector<SparseEmbedding> Model::embed_sparse(const std::vector<std::string>& texts,
                                                 const EmbedOptions& options,
                                                 int64_t first_number) const {
  loaded_->require_task(&ModelTasks::embed_sparse);
  return embed_by<tasks::SparseEmbedder>(*loaded_, texts, options, first_number);
}

std::vector<MultiVectorEmbedding> Model::embed_multi_vector(const std::vector<std::string>& texts,
                                                            const EmbedOptions& options,
                                                            int64_t first_number) const {
  loaded_->require_task(&ModelTasks::embed_multi_vector);
  return embed_by<tasks::MultiVectorEmbedder>(*loaded_, texts, options, first_number);
}

std::vector<MultiVectorEmbedding> Model::token_embeddings(const std::vector<std::string>& texts,
                                                          const EmbedOptions& options,
                                                          int64_t first_number) const {
  return embed_by<tasks::MultiVectorEmbedder>(
      *loaded_, texts, options, first_number, [](tasks::EmbedderOptions& made) {
        if (made.pooling.empty()) return;
        made.multi_vector.emplace();  // BGE-M3's several vectors are not what is pooled
        made.multi_vector_modules.clear();
      });
}

std::vector<int32_t> Model::tokens_to_embed(const std::string& text,
                                            const EmbedOptions& options) const {
  text::require_utf8(text, "the text");
  return loaded_->text_reader(options).tokens(text);
}

int64_t Model::count_tokens_to_embed(const std::string& text, const EmbedOptions& options) const {
  text::require_utf8(text, "the text");
  return loaded_->text_reader(options).count_tokens(text);
}

int64_t Model::max_embedded_tokens(const EmbedOptions& options) const {
  return loaded_->text_reader(options).max_tokens();
}

EmbedSettings Model::embed_settings() const {
  const tasks::EmbedderOptions& read = loaded_->embedding.value();
  return {read.pooling, read.normalizes(), read.prompt, read.include_prompt, read.prompts};
}

std::vector<ScoreWindow> Model::score_windows(std::string_view text,
                                              const ScoreOptions& options) const {
  require_scores_texts(*loaded_);
  const text::Tokenizer& tokenizer = loaded_->shared_tokenizer("scoring a text");
  text::require_utf8(text, "the text");
  const std::vector<int32_t> tokens = tokenizer.encode(text);
  require_input(tokens.size() >= 2, "expected at least 2 tokens, found {}: the first is not scored",
                tokens.size());
  model::check_tokens(loaded_->transformer->config(), tokens);
  std::vector<ScoreWindow> windows;
  for (const auto& [begin, end, scored] :
       tasks::score_windows(*loaded_->transformer, std::ssize(tokens), options))
    windows.push_back({{tokens.begin() + begin, tokens.begin() + end}, scored});
  return windows;
}

std::vector<double> Model::score_window(const ScoreWindow& window) const {
  const ExecutorScope scope(*loaded_->executor);
  require_scores_texts(*loaded_);
  require_input(window.scored >= 1 && window.scored < std::ssize(window.tokens),
                "a window of {} tokens scores {}, expected 1 to {}", window.tokens.size(),
                window.scored, std::ssize(window.tokens) - 1);
  model::check_length(loaded_->transformer->config(), window.tokens);
  return tasks::score_window(*loaded_->transformer, window.tokens, window.scored,
                             loaded_->activations(), loaded_->cache());
}

std::vector<TokenScore> Model::score_tokens(std::span<const int32_t> tokens, int64_t top) const {
  const ExecutorScope scope(*loaded_->executor);
  require_input(!tokens.empty(), "there are no tokens to score");
  require_input(top >= 0, "top is {}, expected at least 0", top);
  return tasks::score_tokens(*loaded_->transformer, tokens, top, loaded_->activations(),
                             loaded_->cache());
}

Logits Model::logits(std::span<const int32_t> tokens,
                     std::span<const int32_t> source_tokens) const {
  const ExecutorScope scope(*loaded_->executor);
  const model::Transformer& transformer = *loaded_->transformer;
  const bool both = transformer.has_encoder() && transformer.has_decoder();
  require_input(both != source_tokens.empty(), "{}",
                both ? "source_tokens is missing: the model is an encoder-decoder"
                     : "source_tokens is for encoder-decoders, this model reads only tokens");
  const model::ModelConfig& config = transformer.config();
  require(config.has_head, "{} has no language model head, and therefore no logits",
          loaded_->path.string());
  require_input(!tokens.empty(), "there are no tokens");
  model::check_tokens(config, tokens);
  model::check_length(config, tokens);
  Context context{.dtype = loaded_->activations()};
  const std::vector<int32_t> source_offsets{0, static_cast<int32_t>(source_tokens.size())};
  const std::vector<int32_t> offsets{0, static_cast<int32_t>(tokens.size())};
  const Tensor states =
      both ? transformer.decode_all(context, {tokens, offsets},
                                    transformer.encode(context, {source_tokens, source_offsets}))
           : tasks::hidden_states(transformer, context, {tokens, offsets});
  const Tensor logits = transformer.logits(context, states).to(nullptr);
  return {logits.rows(),
          logits.cols(),
          {logits.data<float>(), logits.data<float>() + logits.elements()}};
}

Score Model::score(std::string_view text, const ScoreOptions& options) const {
  const ExecutorScope scope(*loaded_->executor);
  Score score;
  for (const ScoreWindow& window : score_windows(text, options)) {
    const std::vector<double> scores = score_window(window);
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
  loaded_->require_task(&ModelTasks::score);
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
  loaded_->require_task(&ModelTasks::fill);
  const text::Tokenizer& tokenizer = loaded_->shared_tokenizer("filling masks");
  const auto mask = tokenizer.special_tokens().mask;
  require(mask.has_value(), "{}: the tokenizer has no mask token", loaded_->path.string());
  text::require_utf8(text, "the text");
  FilledText filled;
  filled.tokens = tokenizer.encode(with_masks(std::string(text), tokenizer.piece(*mask)));
  filled.masks =
      tasks::fill_masks(*loaded_->transformer, filled.tokens, *mask, top, loaded_->activations());
  return filled;
}

}  // namespace heed
