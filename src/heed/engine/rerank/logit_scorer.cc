#include "heed/engine/rerank/logit_scorer.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/data/batch.h"
#include "heed/data/inference_batches.h"
#include "heed/ops/rows.h"

namespace heed::engine {
namespace {

/// Smallest number of tokens of a batch that one thread computes alone.
constexpr int64_t kMinScoredTokens = 128;

const tasks::LogitScore& logit_score_of(const LoadedModel& model) {
  const auto& score = model.pair_settings.value().logit_score;
  require(score.has_value(), "{} has no module LogitScore", model.path.string());
  return *score;
}

/// That of the files, or a smaller one that is asked for.
int64_t token_limit_of(const LoadedModel& model, const ClassifyOptions& options) {
  const int64_t own = model.text_settings.value().limit.most;
  if (!options.max_seq_length) return own;
  const int64_t context = tasks::context_limit(model.transformer->config());
  require_input(
      *options.max_seq_length >= 1 && (context == 0 || *options.max_seq_length <= context),
      "max_seq_length is {}, expected 1 to {}: the model's context length", *options.max_seq_length,
      context);
  return *options.max_seq_length;
}

}  // namespace

LogitScorer::LogitScorer(const LoadedModel& model, const ClassifyOptions& options)
    : model_(model),
      score_(logit_score_of(model)),
      options_(options),
      max_tokens_(token_limit_of(model, options)) {
  model.transformer->head();
  if (!score_.chat_template.empty())
    own_template_ = chat::own_template(score_.chat_template, model.shared_tokenizer("reranking"));
}

std::vector<int32_t> LogitScorer::tokens(const std::string& query,
                                         const std::string& document) const {
  std::vector<ChatMessage> messages;
  const std::string prompt = options_.prompt.value_or(model_.pair_settings.value().prompt);
  if (!prompt.empty()) messages.push_back({.role = "system", .content = prompt});
  messages.push_back({.role = "query", .content = query});
  messages.push_back({.role = "document", .content = document});
  const ChatOptions options{.chat_template_kwargs = score_.chat_template_kwargs,
                            .add_generation_prompt = score_.add_generation_prompt};
  const chat::ChatTemplate& used =
      own_template_ ? *own_template_ : model_.chat_templates.value().choose(options);
  return used.prompt(messages, options).tokens;
}

void LogitScorer::run(std::span<const int64_t> members,
                      const std::vector<std::vector<int32_t>>& prompts,
                      std::vector<double>& scores) const {
  std::vector<int32_t> ids, offsets{0}, last;
  for (const int64_t member : members) {
    data::append_sequence(prompts[static_cast<size_t>(member)], ids, offsets);
    last.push_back(offsets.back() - 1);
  }
  const model::Transformer& transformer = *model_.transformer;
  const DeviceScope scope(transformer.device());
  Context context{.dtype = model_.activations()};
  const Tensor states = transformer.decode_all(context, {ids, offsets});
  const Tensor logits =
      transformer.logits(context, ops::gather_rows(context, states, last)).to(nullptr);
  for (size_t b = 0; b < members.size(); ++b) {
    const float* const row = logits.data<float>() + static_cast<int64_t>(b) * logits.cols();
    double score = static_cast<double>(row[score_.true_token]);
    if (score_.false_token) score -= static_cast<double>(row[*score_.false_token]);
    require(std::isfinite(score), "the model's output is not finite: its weights are damaged");
    scores[static_cast<size_t>(members[b])] = score;
  }
}

std::vector<double> LogitScorer::scores(const std::string& query,
                                        std::span<const std::string> documents,
                                        int64_t first_number) const {
  std::vector<std::vector<int32_t>> prompts(documents.size());
  data::read_inputs("document", documents.size(), first_number, [&](size_t i) {
    prompts[i] = tokens(query, documents[i]);
    require_input(max_tokens_ == 0 || std::ssize(prompts[i]) <= max_tokens_,
                  "the prompt with it has {} tokens, the model reads at most {}", prompts[i].size(),
                  max_tokens_);
  });
  std::vector<int64_t> lengths;
  for (const std::vector<int32_t>& prompt : prompts) lengths.push_back(std::ssize(prompt));
  std::vector<double> scores(documents.size());
  const bool on_device = model_.transformer->device() != nullptr;
  data::run_batches(lengths,
                    {.max_per_batch = data::tokens_per_batch(options_.batch_tokens, on_device),
                     .min_per_thread = kMinScoredTokens,
                     .on_device = on_device},
                    [&](std::span<const int64_t> members) { run(members, prompts, scores); });
  return scores;
}

}  // namespace heed::engine
