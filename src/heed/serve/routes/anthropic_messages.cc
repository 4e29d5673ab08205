// Anthropic's messages: https://docs.anthropic.com/en/api/messages
#include "heed/base/json.h"
#include "heed/serve/answer_call.h"
#include "heed/serve/fields/chat_fields.h"
#include "heed/serve/fields/sampling_fields.h"
#include "heed/serve/routes/anthropic_fields.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

class AnthropicCall : public AnswerCall {
 public:
  AnthropicCall(const ModelCall& call, bool stream, const ChatPrompt& prompt, size_t messages)
      : AnswerCall(call, prompt.answer, messages), stream_(stream) {}

 private:
  Json usage() const {
    return {{"input_tokens", prompt_tokens()},
            {"cache_creation_input_tokens", 0},
            {"cache_read_input_tokens", 0},
            {"output_tokens", output_tokens()}};
  }

  Json stop_reason() const {
    if (!answer().tool_calls.empty()) return "tool_use";
    if (finish_reason() == FinishReason::length) return "max_tokens";
    return stop_string() ? "stop_sequence" : "end_turn";
  }

  Json stop_sequence() const {
    return stop_reason() == "stop_sequence" ? Json(*stop_string()) : Json();
  }

  Json message(bool ended) const {
    Json json = {{"id", id("msg")},
                 {"type", "message"},
                 {"role", "assistant"},
                 {"model", model_name()},
                 {"content", blocks_},
                 {"stop_reason", ended ? stop_reason() : Json()},
                 {"stop_sequence", ended ? stop_sequence() : Json()},
                 {"usage", usage()}};
    if (!seed().is_null()) json["seed"] = seed();
    return json;
  }

  void send(const char* type, const Json& fields) {
    if (!stream_) return;
    Json event = {{"type", type}};
    event.update(fields);
    call().send_json_event(event, type);
  }

  void on_accepted() override {
    if (!stream_) return;
    call().begin_events();
    send("message_start", {{"message", message(false)}});
    send("ping", Json::object());
  }

  size_t last() const { return blocks_.size() - 1; }

  void begin_block(Json block) {
    end_block();
    send("content_block_start", {{"index", blocks_.size()}, {"content_block", block}});
    blocks_.push_back(std::move(block));
  }

  void end_block() {
    if (!blocks_.empty()) send("content_block_stop", {{"index", last()}});
  }

  void send_delta(const Json& delta) {
    send("content_block_delta", {{"index", last()}, {"delta", delta}});
  }

  /// A block of text has it in a member that is named as its type.
  void add_text(const std::string& type, const std::string& text) {
    if (text.empty()) return;
    if (blocks_.empty() || blocks_.back()["type"] != type) {
      Json block = {{"type", type}, {type, ""}};
      if (type == "thinking") block["signature"] = "";
      begin_block(std::move(block));
    }
    blocks_.back()[type].get_ref<std::string&>() += text;
    send_delta({{"type", type + "_delta"}, {type, text}});
  }

  void on_part(const ChatAnswer& part) override {
    add_text("thinking", part.reasoning_content);
    add_text("text", part.content);
    for (const ToolCall& tool_call : part.tool_calls) {
      begin_block({{"type", "tool_use"},
                   {"id", tool_call.id},
                   {"name", tool_call.name},
                   {"input", Json::object()}});
      send_delta({{"type", "input_json_delta"}, {"partial_json", tool_call.arguments}});
      blocks_.back()["input"] = Json::parse(tool_call.arguments);
    }
  }

  void on_answered() override {
    if (!stream_) return call().respond_json(message(true));
    end_block();
    send("message_delta",
         {{"delta", {{"stop_reason", stop_reason()}, {"stop_sequence", stop_sequence()}}},
          {"usage", usage()}});
    send("message_stop", Json::object());
    call().end_events();
  }

  const bool stream_;
  Json blocks_ = Json::array();  // those that have begun
};

const char* anthropic_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
      return "overloaded_error";
    case 504:
      return "timeout_error";
    default:
      return status < 500 ? "invalid_request_error" : "api_error";
  }
}

}  // namespace

std::string anthropic_error_body(const ApiError& error) {
  const Json body = {
      {"type", "error"},
      {"error", {{"type", anthropic_type(error.status)}, {"message", error.what()}}}};
  return dump_json(body, {.replace_invalid = true});
}

void post_anthropic_messages(const ModelCall& call) {
  const Model& model = call.model();
  require_task(call.target, call.target.tasks.chat, "chat");
  JsonFields fields = call.fields();
  fields.ignore({"metadata", "service_tier", "inference_geo"});
  fields.only("container", nullptr);
  fields.only("n", 1);
  AnthropicPrompt read = read_anthropic_prompt(call, fields);
  fields.require("max_tokens");
  GenerateOptions options = read_chat_sampling(call, fields);
  read_stop(fields, "stop_sequences", options);
  options.structured_output = std::move(read.output);
  const bool stream = fields.boolean("stream").value_or(false);
  fields.end();

  const ChatPrompt prompt = make_prompt(model, read.messages, read.options, "messages");
  set_answer_limit(options, model, prompt);
  std::make_shared<AnthropicCall>(call, stream, prompt, read.messages.size())
      ->ask(prompt.tokens, prepared_answer(model, prompt, options), "messages");
}

void post_anthropic_count_tokens(const ModelCall& call) {
  require_task(call.target, call.target.tasks.chat, "chat");
  JsonFields fields = call.fields();
  const AnthropicPrompt read = read_anthropic_prompt(call, fields);
  fields.end();
  const ChatPrompt prompt = make_prompt(call.model(), read.messages, read.options, "messages");
  call.call->respond_json({{"input_tokens", prompt.tokens.size()}});
}

}  // namespace heed::serve
