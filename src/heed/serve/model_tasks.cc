#include "heed/serve/model_tasks.h"

#include <utility>

#include "heed/engine/loaded_model.h"

namespace heed::serve {
namespace {

const text::TranslationTokenizer* translator_of(const engine::LoadedModel& model) {
  return model.tokenizer.has_value() ? model.tokenizer.value().translation_tokenizer() : nullptr;
}

}  // namespace

ModelTasks tasks_of(const Model& model) {
  const engine::LoadedModel& loaded = engine::loaded(model);
  const model::ModelConfig& config = loaded.transformer->config();
  const bool head = config.has_head, encoder = model.has_encoder(), decoder = model.has_decoder();
  const bool translator = translator_of(loaded) != nullptr;
  const bool tokenizer = model.has_tokenizer();
  const bool f32 = loaded.activations() == DType::f32;
  using Kind = model::ClassifierConfig::Kind;
  ModelTasks tasks;
  tasks.generate = decoder && head && !translator;
  tasks.chat = tasks.generate && model.has_chat_template();
  tasks.translate = encoder && decoder && translator;
  tasks.embed = tokenizer && !translator && f32;
  tasks.rerank = tokenizer && f32 && config.classifier.kind == Kind::sequence &&
                 config.classifier.labels.size() == 1;
  tasks.score = tokenizer && decoder && head;
  tasks.fill = tokenizer && f32 && encoder && !decoder && head;
  tasks.attention = tokenizer && f32;
  return tasks;
}

std::vector<std::string> names_of(const ModelTasks& tasks) {
  std::vector<std::string> names;
  for (const auto& [can, name] :
       {std::pair{tasks.generate, "generate"}, std::pair{tasks.chat, "chat"},
        std::pair{tasks.translate, "translate"}, std::pair{tasks.embed, "embed"},
        std::pair{tasks.rerank, "rerank"}, std::pair{tasks.score, "score"},
        std::pair{tasks.fill, "fill"}, std::pair{tasks.attention, "attention"}})
    if (can) names.emplace_back(name);
  return names;
}

std::vector<std::string> languages_of(const Model& model) {
  std::vector<std::string> codes;
  if (const text::TranslationTokenizer* translator = translator_of(engine::loaded(model)))
    for (const auto& [code, token] : translator->languages().codes()) codes.push_back(code);
  return codes;
}

std::vector<std::string> source_languages_of(const Model& model) {
  const text::TranslationTokenizer* translator = translator_of(engine::loaded(model));
  if (!translator ||
      translator->languages().layout() == text::LanguageTokens::Layout::target_in_source)
    return {};
  return languages_of(model);
}

}  // namespace heed::serve
