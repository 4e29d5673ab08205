// Ollama's chats and completions: https://docs.ollama.com/api
#include <algorithm>
#include <chrono>

#include "heed/chat/messages.h"
#include "heed/serve/answer_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/ollama_fields.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

int64_t nanoseconds(std::optional<Call::Clock::time_point> begin,
                    std::optional<Call::Clock::time_point> end) {
  if (!begin || !end) return 0;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(*end - *begin).count();
}

/// The end of an answer for which nothing is generated: the model is loaded.
Json loaded_json(const ModelCall& call, bool chat) {
  Json json = {{"model", call.target.name}, {"created_at", ollama_time()}};
  if (chat)
    json["message"] = {{"role", "assistant"}, {"content", ""}};
  else
    json["response"] = "";
  json["done"] = true;
  json["done_reason"] = "load";
  return json;
}

class OllamaCall : public AnswerCall {
 public:
  OllamaCall(const ModelCall& call, bool chat, bool stream, const AnswerFormat& format,
             size_t messages)
      : AnswerCall(call, format, messages), chat_(chat), stream_(stream) {}

 private:
  static Json calls_json(const std::vector<ToolCall>& calls) {
    Json list = Json::array();
    for (const ToolCall& call : calls)
      list.push_back(
          {{"id", call.id},
           {"function", {{"name", call.name}, {"arguments", Json::parse(call.arguments)}}}});
    return list;
  }

  Json line(const ChatAnswer& part, bool done) const {
    Json json = {{"model", model_name()}, {"created_at", ollama_time()}};
    Json message = chat_ ? Json{{"role", "assistant"}} : Json::object();
    message[chat_ ? "content" : "response"] = part.content;
    if (!part.reasoning_content.empty()) message["thinking"] = part.reasoning_content;
    if (!part.tool_calls.empty()) message["tool_calls"] = calls_json(part.tool_calls);
    if (chat_)
      json["message"] = std::move(message);
    else
      json.update(message);
    json["done"] = done;
    return json;
  }

  Json last_line(const ChatAnswer& part) {
    Json json = line(part, true);
    const Call::Statistics times = call().statistics();
    json["done_reason"] = name_of(finish_reason());
    if (!seed().is_null()) json["seed"] = seed();
    json["total_duration"] = nanoseconds(times.arrived, Call::Clock::now());
    json["load_duration"] = nanoseconds(times.arrived, times.started);
    json["prompt_eval_count"] = prompt_tokens();
    json["prompt_eval_duration"] = nanoseconds(times.started, times.first_token);
    json["eval_count"] = output_tokens();
    json["eval_duration"] = nanoseconds(times.first_token, times.last_token);
    return json;
  }

  void on_accepted() override {
    if (stream_) call().begin_lines();
  }

  void on_part(const ChatAnswer& part) override {
    if (stream_) call().send_json_line(line(part, false));
  }

  void on_answered() override {
    if (!stream_) return call().respond_json(last_line(answer()));
    call().send_json_line(last_line({}));
    call().end_lines();
  }

  const bool chat_, stream_;
};

/// Fields of /api/generate that heed offers one value of.
void read_ollama_only(JsonFields& fields) {
  fields.only("template", "");
  fields.only("context", Json::array());
  fields.only("images", Json::array());
}

/// A prompt that is continued as it is.
ChatPrompt plain_prompt(const ModelCall& call, const std::string& text) {
  require_task(call.target, call.target.tasks.generate, "generate");
  refuse_overlong_text(call.model(), text, "prompt");
  return {.text = text, .tokens = call.model().prompt_tokens(text), .end_tokens = {}, .answer = {}};
}

/// The fields of a request without messages, which only loads the model.
void check_load(const Model& model, JsonFields& fields) {
  read_ollama_think(model, fields, nullptr);
  const Json* const tools = fields.find("tools");
  const auto is_tool = [](const Json& tool) { return tool.is_object(); };
  if (tools && !(tools->is_array() && std::ranges::all_of(*tools, is_tool)))
    throw invalid_request("tools", "tools is not a list of functions");
}

}  // namespace

void post_ollama_chat(const ModelCall& call) {
  const Model& model = call.model();
  require_task(call.target, call.target.tasks.chat, "chat");
  JsonFields fields = call.fields();
  fields.ignore({"model", "name"});
  fields.only("logprobs", false);
  const Json* const messages = fields.find("messages");
  const bool load = !messages || *messages == Json::array();
  ChatFields chat;
  if (load)
    check_load(model, fields);
  else
    chat = read_ollama_chat(model, fields);
  fields.ignore({"messages", "tools", "think"});
  GenerateOptions options = read_ollama_options(call, fields, true);
  const bool stream = fields.boolean("stream").value_or(true);
  fields.end();
  if (load) return call.call->respond_json(loaded_json(call, true));

  const ChatPrompt prompt = make_prompt(model, chat.messages, chat.options, "messages");
  set_answer_limit(options, model, prompt);
  std::make_shared<OllamaCall>(call, true, stream, prompt.answer, chat.messages.size())
      ->ask(prompt.tokens, prepared_answer(model, prompt, options), "messages");
}

void post_ollama_generate(const ModelCall& call) {
  const Model& model = call.model();
  JsonFields fields = call.fields();
  fields.ignore({"model", "name"});
  fields.only("logprobs", false);
  read_ollama_only(fields);
  const std::string text = fields.text("prompt").value_or("");
  const std::string system = fields.text("system").value_or("");
  const bool raw = fields.boolean("raw").value_or(false);
  const bool chats = call.target.tasks.chat && !raw;
  fields.only("suffix", "");
  ChatOptions chat;
  read_ollama_think(model, fields, chats ? &chat : nullptr);
  GenerateOptions options = read_ollama_options(call, fields, chats);
  const bool stream = fields.boolean("stream").value_or(true);
  fields.end();
  if (!chats && !system.empty())
    throw invalid_request("system", "system needs a model with a chat template, and not raw");
  if (text.empty()) return call.call->respond_json(loaded_json(call, false));

  std::vector<ChatMessage> messages;
  if (!system.empty()) messages.push_back({.role = "system", .content = system});
  messages.push_back({.role = "user", .content = text});
  const ChatPrompt prompt =
      chats ? make_prompt(model, messages, chat, "prompt") : plain_prompt(call, text);
  set_answer_limit(options, model, prompt);
  if (chats) options = prepared_answer(model, prompt, options);
  std::make_shared<OllamaCall>(call, false, stream, prompt.answer, messages.size())
      ->ask(prompt.tokens, options, "prompt");
}

}  // namespace heed::serve
