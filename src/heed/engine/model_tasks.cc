#include "heed/model_tasks.h"

#include "heed/engine/loaded_model.h"
#include "heed/model.h"

namespace heed {

ModelTasks Model::tasks() const {
  using Kind = model::ClassifierConfig::Kind;
  const model::ModelConfig& config = loaded_->transformer->config();
  const bool head = config.has_head, encoder = has_encoder(), decoder = has_decoder();
  const bool translator = loaded_->translation_tokenizer() != nullptr;
  const bool tokenizer = has_tokenizer();
  const bool f32 = loaded_->activations() == DType::f32;
  ModelTasks tasks;
  tasks.generate = decoder && head && !translator;
  tasks.chat = tasks.generate && has_chat_template();
  tasks.translate = encoder && decoder && translator;
  const bool reads = tokenizer && !translator && f32;
  tasks.embed = reads;
  if (loaded_->embedding.has_value()) {
    const tasks::EmbedderOptions& files = loaded_->embedding.value();
    tasks.embed = reads && !files.pooling.empty();
    tasks.embed_sparse = reads && (files.splade || files.lexical);
    tasks.embed_multi_vector = reads && files.multi_vector;
  }
  tasks.classify = tokenizer && f32 && config.classifier.kind == Kind::sequence;
  tasks.label_tokens = tokenizer && f32 && config.classifier.kind == Kind::token;
  bool answers = false;
  if (loaded_->pair_settings.has_value())
    if (const auto& score = loaded_->pair_settings.value().logit_score)
      answers = score->chat_template.empty() ? tasks.chat : tasks.generate && tokenizer;
  tasks.rerank = answers || (tasks.classify && config.classifier.labels.size() == 1) ||
                 (tasks.embed_multi_vector && !config.classifier.present());
  tasks.score = tokenizer && decoder && head;
  tasks.fill = tokenizer && f32 && encoder && !decoder && head;
  tasks.attention = tokenizer && f32;
  return tasks;
}

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
