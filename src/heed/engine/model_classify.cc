#include <algorithm>
#include <cmath>
#include <functional>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/parallel.h"
#include "heed/engine/loaded_model.h"
#include "heed/engine/rerank/logit_scorer.h"
#include "heed/engine/rerank/max_sim_scorer.h"
#include "heed/model.h"
#include "heed/tasks/task_options.h"
#include "heed/tasks/text_classifier.h"
#include "heed/text/utf8.h"

namespace heed {
namespace {

using Kind = model::ClassifierConfig::Kind;

constexpr std::string_view kReranking = "reranking";

tasks::TextClassifier classifier_of(const engine::LoadedModel& model, Kind kind,
                                    std::string_view purpose, const ClassifyOptions& options) {
  model.require_task(kind == Kind::sequence ? &ModelTasks::classify : &ModelTasks::label_tokens);
  tasks::require_classifier(*model.transformer, kind, purpose);
  tasks::ClassifyOption::batch_tokens.check(options.batch_tokens);
  require_input(!options.prompt || purpose == kReranking, "prompt is of rerank(), not of {}",
                purpose);
  return {*model.transformer, model.shared_tokenizer(purpose), model.text_settings.value(), options,
          model.activations()};
}

void require_utf8(const ClassifyInput& text) {
  if (const auto* pair = std::get_if<TextPair>(&text)) {
    text::require_utf8(pair->first, "the first text");
    text::require_utf8(pair->second, "the second text");
  } else {
    text::require_utf8(std::get<std::string>(text), "the text");
  }
}

}  // namespace

std::vector<LabelScore> Model::classify(const ClassifyInput& text,
                                        const ClassifyOptions& options) const {
  return classify_batch({text}, options).front();
}

std::vector<std::vector<LabelScore>> Model::classify_batch(const std::vector<ClassifyInput>& texts,
                                                           const ClassifyOptions& options,
                                                           int64_t first_number) const {
  const ExecutorScope scope(*loaded_->executor);
  const auto classifier = classifier_of(*loaded_, Kind::sequence, "classification", options);
  engine::check_count("first_number", first_number);
  for (size_t i = 0; i < texts.size(); ++i)
    name_input("text", first_number + static_cast<int64_t>(i), [&] { require_utf8(texts[i]); });
  const model::ClassifierConfig& config = loaded_->transformer->config().classifier;
  std::vector<std::vector<LabelScore>> results;
  for (const std::vector<float>& logits : classifier.logits(texts, first_number)) {
    const std::vector<double> scores = tasks::label_scores(config, logits);
    std::vector<LabelScore>& labels = results.emplace_back();
    for (size_t label = 0; label < scores.size(); ++label)
      labels.push_back({config.labels[label], scores[label]});
    std::ranges::stable_sort(labels, std::greater(), &LabelScore::score);
  }
  return results;
}

int64_t Model::count_tokens_to_classify(const ClassifyInput& text) const {
  require_utf8(text);
  return classifier_of(*loaded_, Kind::sequence, "classification", {}).count_tokens(text);
}

int64_t Model::count_tokens_to_rerank(const std::string& query, const std::string& document) const {
  const tasks::PairSettings& settings = loaded_->pair_settings.value();
  if (settings.logit_score)
    return std::ssize(engine::LogitScorer(*loaded_, {}).tokens(query, document));
  if (reranks_by_max_sim()) return engine::MaxSimScorer(*loaded_, {}).count_tokens(document);
  return count_tokens_to_classify(TextPair{settings.prompt + query, document});
}

int64_t Model::max_classified_tokens(const ClassifyOptions& options) const {
  if (loaded_->pair_settings.value().logit_score)
    return engine::LogitScorer(*loaded_, options).max_tokens();
  if (reranks_by_max_sim()) return engine::MaxSimScorer(*loaded_, options).max_tokens();
  return classifier_of(*loaded_, Kind::sequence, "classification", options).max_tokens();
}

std::vector<double> Model::document_logits(const std::string& query,
                                           const std::vector<std::string>& documents,
                                           const ClassifyOptions& options,
                                           int64_t first_number) const {
  const ExecutorScope scope(*loaded_->executor);
  const bool answers = loaded_->pair_settings.value().logit_score.has_value();
  if (answers || reranks_by_max_sim()) {
    text::require_utf8(query, "the query");
    engine::require_utf8_texts(documents, "document", first_number);
    tasks::ClassifyOption::batch_tokens.check(options.batch_tokens);
    return answers ? engine::LogitScorer(*loaded_, options).scores(query, documents, first_number)
                   : engine::MaxSimScorer(*loaded_, options).scores(query, documents, first_number);
  }
  loaded_->require_task(&ModelTasks::rerank);
  const auto classifier = classifier_of(*loaded_, Kind::sequence, kReranking, options);
  const size_t labels = loaded_->transformer->config().classifier.labels.size();
  require(labels == 1, "{} has {} labels, expected 1 for reranking", loaded_->path.string(),
          labels);
  text::require_utf8(query, "the query");
  const std::string prompt = options.prompt.value_or(loaded_->pair_settings.value().prompt);
  engine::require_utf8_texts(documents, "document", first_number);
  std::vector<ClassifyInput> pairs;
  for (const std::string& document : documents)
    pairs.emplace_back(TextPair{prompt + query, document});
  std::vector<double> result;
  for (const std::vector<float>& logits : classifier.logits(pairs, first_number))
    result.push_back(static_cast<double>(logits.front()));
  return result;
}

std::vector<double> Model::document_scores(const std::string& query,
                                           const std::vector<std::string>& documents,
                                           const ClassifyOptions& options,
                                           int64_t first_number) const {
  std::vector<double> scores = document_logits(query, documents, options, first_number);
  if (reranks_by_max_sim()) return scores;
  const model::ClassifierConfig& config = loaded_->transformer->config().classifier;
  if (loaded_->pair_settings.value().sigmoid.value_or(config.sigmoid_score))
    for (double& score : scores) score = 1.0 / (1.0 + std::exp(-score));
  return scores;
}

std::vector<RankedDocument> Model::rerank(const std::string& query,
                                          const std::vector<std::string>& documents,
                                          const ClassifyOptions& options) const {
  std::vector<RankedDocument> ranked;
  for (const double score : document_scores(query, documents, options))
    ranked.push_back({std::ssize(ranked), score});
  std::ranges::stable_sort(ranked, std::greater(), &RankedDocument::score);
  return ranked;
}

bool Model::reranks_by_max_sim() const { return engine::reranks_by_max_sim(*loaded_); }

std::vector<std::string> Model::labels() const {
  return loaded_->transformer->config().classifier.labels;
}

bool Model::classifies_tokens() const {
  return loaded_->transformer->config().classifier.kind == Kind::token;
}

LabelledText Model::label_tokens(const std::string& text, const ClassifyOptions& options) const {
  return label_tokens_batch({text}, options).front();
}

std::vector<LabelledText> Model::label_tokens_batch(const std::vector<std::string>& texts,
                                                    const ClassifyOptions& options,
                                                    int64_t first_number) const {
  const ExecutorScope scope(*loaded_->executor);
  const auto classifier = classifier_of(*loaded_, Kind::token, "labelling tokens", options);
  engine::check_count("first_number", first_number);
  std::vector<tasks::TextTokens> tokens;
  for (const std::string& text : texts) {
    check_interrupted();
    name_input("text", first_number + std::ssize(tokens), [&] {
      text::require_utf8(text, "the text");
      tokens.push_back(classifier.tokens(text));
    });
  }
  const model::ClassifierConfig& config = loaded_->transformer->config().classifier;
  const text::Tokenizer& tokenizer = loaded_->shared_tokenizer("labelling tokens");
  const auto logits = classifier.token_logits(tokens);
  std::vector<LabelledText> results;
  for (size_t i = 0; i < texts.size(); ++i)
    results.push_back(
        {tokens[i].ids, tasks::entities_of(config, texts[i], tokens[i], logits[i], tokenizer)});
  return results;
}

}  // namespace heed
