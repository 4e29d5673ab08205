#include "heed/model_tasks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/engine/loaded_model.h"
#include "heed/model.h"

namespace heed {
namespace engine {
namespace {

struct TaskWords {
  bool ModelTasks::*task;
  const char *verb, *suitable;
};

constexpr TaskWords kTasks[] = {
    {&ModelTasks::chat, "chat", "a decoder-only model with a chat template"},
    {&ModelTasks::generate, "generate", "a decoder-only model"},
    {&ModelTasks::translate, "translate", "an encoder-decoder for translation"},
    {&ModelTasks::embed, "embed", "an encoder-only or a decoder-only model"},
    {&ModelTasks::embed_sparse, "embed sparsely",
     "a SparseEncoder of sentence-transformers, a masked language model or BGE-M3"},
    {&ModelTasks::embed_multi_vector, "embed each token",
     "a MultiVectorEncoder of sentence-transformers, a model of PyLate or BGE-M3"},
    {&ModelTasks::rerank, "rerank",
     "a cross-encoder (a classifier with one label), a model that answers yes or no, or one with a "
     "vector for each token"},
    {&ModelTasks::classify, "classify texts",
     "a model for the classification of texts (its config.json names the class "
     "ForSequenceClassification)"},
    {&ModelTasks::label_tokens, "label tokens",
     "a model for the classification of tokens (its config.json names the class "
     "ForTokenClassification)"},
    {&ModelTasks::fill, "fill masks",
     "an encoder-only model with a language model head (BERT, RoBERTa)"},
    {&ModelTasks::score, "score texts", "a model with a decoder"},
    {&ModelTasks::attention, "show attention", "a model with a tokenizer"},
};

}  // namespace

void LoadedModel::refuse_task(bool ModelTasks::*task) const {
  const ModelTasks tasks = this->tasks();
  const TaskWords& asked = *std::ranges::find(kTasks, task, &TaskWords::task);
  std::vector<std::string> others;
  for (const TaskWords& one : kTasks)
    if (tasks.*one.task && one.task != task) others.emplace_back(one.verb);
  if (others.empty()) others.emplace_back("print logits");
  fail("{} cannot {}, expected {}; it can {}", one_line(path.string()), asked.verb, asked.suitable,
       fmt::join(others, ", "));
}

void LoadedModel::require_task(bool ModelTasks::*task) const {
  const ModelTasks tasks = this->tasks();
  // Every model shows its attention, unless its tokenizer or its type of activations forbids most.
  const bool kind_decides = tasks.attention || task == &ModelTasks::generate;
  if (tasks.*task || !kind_decides) return;
  // What is wrong with the settings of an embedder says more than its kind.
  const bool embeds = task == &ModelTasks::embed || task == &ModelTasks::embed_sparse ||
                      task == &ModelTasks::embed_multi_vector;
  if (embeds) embedding.value();
  refuse_task(task);
}

ModelTasks LoadedModel::tasks() const {
  using Kind = model::ClassifierConfig::Kind;
  const model::ModelConfig& config = transformer->config();
  const bool head = config.has_head;
  const bool encoder = transformer->has_encoder(), decoder = transformer->has_decoder();
  const bool translator = translation_tokenizer() != nullptr;
  const bool tokenizer = this->tokenizer.has_value();
  const bool f32 = activations() == DType::f32;
  ModelTasks tasks;
  tasks.generate = decoder && head && !translator;
  tasks.chat = tasks.generate && chat_templates.has_value();
  tasks.translate = encoder && decoder && translator;
  const bool reads = tokenizer && !translator && f32;
  tasks.embed = reads;
  if (embedding.has_value()) {
    const tasks::EmbedderOptions& files = embedding.value();
    tasks.embed = reads && !files.pooling.empty();
    tasks.embed_sparse = reads && (files.splade || files.lexical);
    tasks.embed_multi_vector = reads && files.multi_vector;
  }
  tasks.classify = tokenizer && f32 && config.classifier.kind == Kind::sequence;
  tasks.label_tokens = tokenizer && f32 && config.classifier.kind == Kind::token;
  bool answers = false;
  if (pair_settings.has_value())
    if (const auto& score = pair_settings.value().logit_score)
      answers = score->chat_template.empty() ? tasks.chat : tasks.generate && tokenizer;
  tasks.rerank = answers || (tasks.classify && config.classifier.labels.size() == 1) ||
                 (tasks.embed_multi_vector && !config.classifier.present());
  tasks.score = tokenizer && decoder && head;
  tasks.fill = tokenizer && f32 && encoder && !decoder && head;
  tasks.attention = tokenizer && f32;
  return tasks;
}

}  // namespace engine

ModelTasks Model::tasks() const { return loaded_->tasks(); }

void Model::require_task(bool ModelTasks::*task) const { loaded_->require_task(task); }

std::vector<std::string> Model::languages() const {
  const text::TranslationTokenizer* translator = loaded_->translation_tokenizer();
  return translator ? text::names_of(translator->languages().codes()) : std::vector<std::string>();
}

std::vector<std::string> Model::source_languages() const {
  const text::TranslationTokenizer* translator = loaded_->translation_tokenizer();
  return translator ? text::names_of(translator->languages().source_codes())
                    : std::vector<std::string>();
}

}  // namespace heed
