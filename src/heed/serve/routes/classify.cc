// vLLM's classification: https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
#include <algorithm>
#include <chrono>

#include "heed/serve/classify_call.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/retrieval_fields.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

/// The probabilities in the order of the model's labels, and the best label.
Json classified_json(size_t index, const std::vector<LabelScore>& scores,
                     const std::vector<std::string>& labels) {
  Json probabilities = Json::array();
  for (const std::string& label : labels)
    probabilities.push_back(std::ranges::find(scores, label, &LabelScore::label)->score);
  return {{"index", index},
          {"label", scores.front().label},
          {"probs", std::move(probabilities)},
          {"num_classes", labels.size()}};
}

}  // namespace

void post_classify(const ModelCall& call) {
  require_task(call.target, call.target.tasks.classify, "classify");
  JsonFields fields = call.fields();
  fields.ignore({"model", "user", "priority", "request_id", "cache_salt"});
  const std::vector<std::string> texts = read_texts(fields, "input");
  const bool truncate = read_truncate(fields, false);
  for (const char* name : {"add_special_tokens", "use_activation", "activation", "softmax"})
    fields.only(name, true);
  fields.end();
  const auto created = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  classify(call, {texts.begin(), texts.end()}, truncate, "input",
           [answered = call.call, name = call.target.name, created, labels = call.model().labels()](
               const std::vector<std::vector<LabelScore>>& scores, int64_t tokens) {
             Json data = Json::array();
             for (const std::vector<LabelScore>& one : scores)
               data.push_back(classified_json(data.size(), one, labels));
             answered->respond_json({{"id", fmt::format("classify-{}", answered->request().id)},
                                     {"object", "list"},
                                     {"created", created},
                                     {"model", name},
                                     {"data", std::move(data)},
                                     {"usage", usage_json(tokens)}});
           });
}

}  // namespace heed::serve
