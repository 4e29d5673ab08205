#include "heed/serve/routes/ollama_fields.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

#include "heed/engine/chat_requests.h"
#include "heed/serve/fields/sampling_fields.h"
#include "heed/serve/fields/structured_output_fields.h"

namespace heed::serve {
namespace {

constexpr std::string_view kDefaultTag = ":latest";

/// Gives calls ids, and results of tools those of their calls: by name, otherwise in order.
class CallIds {
 public:
  void add_to(Json& message) {
    if (message.value("role", Json()) == "tool") return answer(message);
    const auto calls = message.find("tool_calls");
    if (calls == message.end() || !calls->is_array()) return;
    for (Json& call : *calls) {
      if (!call.is_object()) continue;
      Json name;
      if (const auto function = call.find("function");
          function != call.end() && function->is_object()) {
        function->erase("index");
        name = function->value("name", Json());
      }
      // Nine digits, which is what the templates of Mistral require.
      if (!call.contains("id")) call["id"] = fmt::format("{:09}", ++count_);
      open_.push_back({call["id"], std::move(name)});
    }
  }

 private:
  struct Open {
    Json id, name;
  };

  void answer(Json& message) {
    if (message.contains("tool_call_id") || open_.empty()) return;
    auto call = std::ranges::find(open_, message.value("name", Json()), &Open::name);
    if (call == open_.end()) call = open_.begin();
    message["tool_call_id"] = call->id;
    open_.erase(call);
  }

  std::vector<Open> open_;
  int count_ = 0;
};

/// Ollama's settings of how a model is run, which are heed's own to choose.
void ignore_runner_options(JsonFields& options) {
  options.ignore({"num_ctx", "num_batch", "num_gpu", "num_thread", "num_keep", "main_gpu",
                  "low_vram", "vocab_only", "use_mmap", "use_mlock", "numa", "f16_kv",
                  "penalize_newline", "draft_num_predict"});
  options.only("tfs_z", 1);
}

/// heed's penalty looks at all tokens; without one, it does not matter how many.
void read_repeat_window(const Json& window, GenerateOptions& result) {
  const Json named = {{"repeat_last_n", window}};
  JsonFields field(named, "options");
  const auto tokens = field.integer("repeat_last_n", -1, std::numeric_limits<int32_t>::max());
  if (tokens == 0) result.repetition_penalty = 1;
  if (tokens > 0 && result.repetition_penalty.value_or(1) != 1)
    throw invalid_request("options.repeat_last_n",
                          fmt::format("options.repeat_last_n is {}, heed offers -1 (all tokens) "
                                      "and 0 only",
                                      *tokens));
}

void read_num_predict(JsonFields& options, GenerateOptions& result) {
  // -1: without end, -2: as long as there is room; both end with the context.
  const auto limit = options.integer("num_predict", -2, std::numeric_limits<int32_t>::max());
  if (limit && *limit == 0)
    throw invalid_request(options.path_of("num_predict"),
                          fmt::format("{} is 0", options.path_of("num_predict")));
  if (limit) result.max_new_tokens = *limit > 0 ? *limit : std::numeric_limits<int32_t>::max();
}

}  // namespace

ChatFields read_ollama_chat(const Model& model, JsonFields& fields) {
  Json converted = {{"messages", fields.require("messages")}};
  if (const Json* const tools = fields.find("tools")) converted["tools"] = *tools;
  CallIds ids;
  if (converted["messages"].is_array())
    for (Json& message : converted["messages"]) {
      if (!message.is_object()) continue;
      if (const auto name = message.find("tool_name"); name != message.end()) {
        message["name"] = *name;
        message.erase("tool_name");
      }
      ids.add_to(message);
    }
  JsonFields read(converted);
  ChatFields chat = read_chat(model, read);
  read_ollama_think(model, fields, &chat.options);
  return chat;
}

void read_ollama_think(const Model& model, JsonFields& fields, ChatOptions* options) {
  const Json* const value = fields.find("think");
  if (!value) return;
  std::string effort;
  if (value->is_string()) effort = fields.one_of("think", {"low", "medium", "high"});
  const bool thinks = !effort.empty() || *fields.boolean("think");
  const bool known =
      options && (effort.empty() ? engine::set_thinking(*options, thinks, model)
                                 : engine::set_reasoning_effort(*options, effort, model));
  if (!known) fields.report_ignored("think");
}

GenerateOptions read_ollama_options(const ModelCall& call, JsonFields& fields, bool chats) {
  const Json* const value = fields.find("options");
  Json given = value ? *value : Json::object();
  const Json window = given.is_object() ? given.value("repeat_last_n", Json()) : Json();
  if (given.is_object()) given.erase("repeat_last_n");  // which read_sampling() would refuse
  JsonFields options = fields.inner(given, "options");
  GenerateOptions result = chats ? read_chat_sampling(call, options) : read_sampling(call, options);
  read_num_predict(options, result);
  read_repeat_window(window, result);
  ignore_runner_options(options);
  options.end();
  fields.ignore({"keep_alive"});
  const Json* const format = fields.find("format");
  if (!format || *format == "") return result;
  if (format->is_string()) fields.one_of("format", {"json"});
  const Json any_object = {{"type", "object"}};
  result.structured_output =
      output_of_schema(call, format->is_string() ? any_object : *format, "format");
  return result;
}

std::string ollama_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now);
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(now - seconds);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:09}Z",
                     fmt::gmtime(static_cast<std::time_t>(seconds.count())), rest.count());
}

std::string choose_ollama_model(const Services& services, const Json& body, std::string named) {
  std::string other = JsonFields(body).text("name").value_or("");
  if (named.empty()) named = std::move(other);
  if (!named.ends_with(kDefaultTag)) return named;
  for (const ModelRegistry::ModelInfo& model : services.models.list())
    if (model.name == named) return named;
  named.resize(named.size() - kDefaultTag.size());
  return named;
}

}  // namespace heed::serve
