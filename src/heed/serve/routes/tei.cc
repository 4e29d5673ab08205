// The API of TEI (Text Embeddings Inference), whose rerankers are in rerank.cc:
// https://huggingface.github.io/text-embeddings-inference
#include <memory>
#include <numeric>
#include <utility>

#include "heed/serve/classify_call.h"
#include "heed/serve/embedding_call.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/embedding_fields.h"
#include "heed/serve/routes/retrieval_fields.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

/// A text, a pair of texts, or a list of lists of one or two texts.
std::vector<ClassifyInput> read_inputs(JsonFields& fields, bool& is_list) {
  const Json& value = fields.require("inputs");
  const auto one_of = [](const Json& texts, const std::string& path) -> ClassifyInput {
    const Json holder = {{"inputs", texts}};
    const std::vector<std::string> read = *JsonFields(holder).texts("inputs");
    if (read.size() == 1) return read[0];
    if (read.size() == 2) return TextPair{read[0], read[1]};
    throw invalid_request(path,
                          fmt::format("{} has {} texts, expected one or two", path, read.size()));
  };
  is_list = value.is_array() && (value.empty() || value.front().is_array());
  if (!is_list) return {one_of(value, "inputs")};
  std::vector<ClassifyInput> inputs;
  for (const Json& one : value)
    inputs.push_back(one_of(one, fmt::format("inputs[{}]", inputs.size())));
  return inputs;
}

Json predictions_json(const std::vector<LabelScore>& labels) {
  Json list = Json::array();
  for (const auto& [label, score] : labels) list.push_back({{"score", score}, {"label", label}});
  return list;
}

Json classifier_json(const Model& model) {
  Json names = Json::object(), numbers = Json::object();
  for (const std::string& label : model.labels()) {
    numbers[label] = names.size();
    names[std::to_string(names.size())] = label;
  }
  return {{"id2label", std::move(names)}, {"label2id", std::move(numbers)}};
}

/// What kind of model TEI would call it; null if it has none for it.
Json model_type_json(const ModelRegistry::Target& target) {
  const Model& model = target.model->model();
  if (target.tasks.rerank) return {{"reranker", classifier_json(model)}};
  if (target.tasks.classify) return {{"classifier", classifier_json(model)}};
  if (!target.tasks.embed)
    return target.tasks.embed_sparse ? Json{{"embedding", {{"pooling", "splade"}}}} : Json();
  std::string poolings;
  for (const Pooling pooling : model.embed_settings().pooling)
    poolings += fmt::format("{}{}", poolings.empty() ? "" : "+", name_of(pooling));
  return {{"embedding", {{"pooling", poolings}}}};
}

int64_t max_input_length(const ModelRegistry::Target& target) {
  const Model& model = target.model->model();
  if (target.tasks.classify) return model.max_classified_tokens();
  const ModelTasks& tasks = target.tasks;
  return tasks.embed || tasks.embed_sparse || tasks.embed_multi_vector ? model.max_embedded_tokens()
                                                                       : model.context_length();
}

/// Responds with vectors without the length 1 that the model's files give them, which those of
/// other requests in a batch have.
void respond_unnormalized(const ModelCall& call, std::vector<TokenizedText> input, bool truncate,
                          const VectorForm& form) {
  struct State {
    std::vector<std::vector<int32_t>> texts;
    Json answer = Json::array();
  };
  const auto state = std::make_shared<State>();
  std::vector<int64_t> tokens;
  for (size_t i = 0; i < input.size(); ++i) {
    state->texts.push_back(
        tokens_to_embed(call.model(), std::move(input[i]), truncate, fmt::format("inputs[{}]", i)));
    tokens.push_back(std::ssize(state->texts.back()));
  }
  call.call->enqueue(call.services.admission, std::reduce(tokens.begin(), tokens.end()));
  call.target.model->run_in_parts(
      call.call, tokens,
      [state, form, served = call.target.model, answered = call.call](size_t begin, size_t end) {
        const auto first = state->texts.begin();
        const std::vector<std::vector<int32_t>> part(first + static_cast<std::ptrdiff_t>(begin),
                                                     first + static_cast<std::ptrdiff_t>(end));
        for (auto& vector : served->model().embed_tokens(part, {.normalize = false}))
          state->answer.push_back(form.json(std::move(vector)));
        if (end == state->texts.size()) answered->respond_json(state->answer);
      });
}

}  // namespace

/// The path that clients post to when they know no other: the route of the model's kind.
void post_tei(const ModelCall& call) {
  const ModelTasks& tasks = call.target.tasks;
  if (tasks.rerank) return post_rerank(call);
  if (tasks.classify) return post_tei_predict(call);
  if (tasks.embed_sparse && !tasks.embed) return post_tei_embed_sparse(call);
  post_tei_embed(call);
}

void post_tei_embed(const ModelCall& call) {
  const Model& model = call.model();
  require_task(call.target, call.target.tasks.embed, "embed");
  JsonFields fields = call.fields();
  fields.ignore({"model"});
  const bool truncate = read_truncate(fields, false);
  read_truncation_direction(fields);
  const std::string prompt = read_prompt_name(fields, "prompt_name", model);
  std::vector<TokenizedText> input = read_texts_or_tokens(
      fields, "inputs", model, [&](const std::string& text, const std::string& field) {
        if (!truncate) refuse_overlong_text(model, text, field);
        return model.tokens_to_embed(text, {.prompt = prompt});
      });
  for (TokenizedText& one : input)
    if (one.text) one.text = prompt + *one.text;
  const VectorForm form{.dimensions = read_dimensions(fields, "dimensions", model),
                        .normalize = fields.boolean("normalize").value_or(true)};
  fields.end();
  if (!form.normalize && model.embed_settings().normalize)
    return respond_unnormalized(call, std::move(input), truncate, form);
  embed_and_respond(call, std::move(input), truncate, "inputs",
                    [form](std::vector<std::vector<float>>& vectors, int64_t /*tokens*/) {
                      Json list = Json::array();
                      for (std::vector<float>& vector : vectors)
                        list.push_back(form.json(std::move(vector)));
                      return list;
                    });
}

void post_tei_predict(const ModelCall& call) {
  require_task(call.target, call.target.tasks.classify, "classify");
  JsonFields fields = call.fields();
  fields.ignore({"model"});
  bool is_list = false;
  std::vector<ClassifyInput> inputs = read_inputs(fields, is_list);
  const bool truncate = read_truncate(fields, false);
  read_truncation_direction(fields);
  fields.only("raw_scores", false);
  fields.end();
  classify(call, std::move(inputs), truncate, "inputs",
           [answered = call.call, is_list](const std::vector<std::vector<LabelScore>>& labels,
                                           int64_t /*tokens*/) {
             if (!is_list) return answered->respond_json(predictions_json(labels.front()));
             Json list = Json::array();
             for (const std::vector<LabelScore>& one : labels)
               list.push_back(predictions_json(one));
             answered->respond_json(list);
           });
}

void get_tei_info(const ModelCall& call) {
  JsonFields fields = call.fields();
  fields.ignore({"model"});
  fields.end();
  const ServerOptions& options = call.services.options;
  call.call->respond_json({{"model_id", call.target.name},
                           {"model_sha", nullptr},
                           {"model_dtype", "float32"},
                           {"model_type", model_type_json(call.target)},
                           {"max_concurrent_requests", options.queue.requests},
                           {"max_input_length", max_input_length(call.target)},
                           {"max_batch_tokens", options.queue.tokens},
                           {"max_batch_requests", nullptr},
                           {"max_client_batch_size", kMaxTexts},
                           {"auto_truncate", false},
                           {"tokenization_workers", 3},
                           {"version", HEED_VERSION},
                           {"sha", nullptr},
                           {"docker_label", nullptr}});
}

}  // namespace heed::serve
