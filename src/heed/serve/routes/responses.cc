// OpenAI's responses, for text: https://platform.openai.com/docs/api-reference/responses
#include <limits>

#include "heed/serve/chat_fields.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/routes/routes.h"
#include "heed/serve/sampling_fields.h"
#include "heed/serve/structured_output_fields.h"

namespace heed::serve {
namespace {

/// Fields of the request that the response repeats.
struct EchoedFields {
  Json instructions, max_output_tokens, temperature, top_p, text_format, metadata;
};

class ResponseCall : public GenerationCall {
 public:
  ResponseCall(const ModelCall& call, bool stream, const ChatPrompt& prompt, size_t messages,
               EchoedFields repeated)
      : GenerationCall(call),
        stream_(stream),
        reader_(prompt.answer, messages),
        echoed_(std::move(repeated)) {}

 private:
  Json part() const {
    return {{"type", "output_text"}, {"text", answer_.content}, {"annotations", Json::array()}};
  }

  Json message(const char* status) const {
    const bool begun = status != std::string_view("in_progress");
    return {{"type", "message"},
            {"id", id("msg")},
            {"status", status},
            {"role", "assistant"},
            {"content", begun ? Json::array({part()}) : Json::array()}};
  }

  Json reasoning() const {
    const Json text = {{"type", "reasoning_text"}, {"text", answer_.reasoning_content}};
    return {{"type", "reasoning"},
            {"id", id("rs")},
            {"summary", Json::array()},
            {"content", Json::array({text})}};
  }

  /// "completed" or "incomplete"; "in_progress" before the end.
  Json response(const char* status) const {
    const bool ended = status != std::string_view("in_progress");
    const bool cut = status == std::string_view("incomplete");
    Json output = Json::array();
    if (ended && !answer_.reasoning_content.empty()) output.push_back(reasoning());
    if (ended) output.push_back(message(status));
    // The details, which clients check for, are those of a service that bills: not counted here.
    const int64_t input = prompt_tokens();
    const Json usage = {{"input_tokens", input},
                        {"input_tokens_details", {{"cached_tokens", 0}, {"cache_write_tokens", 0}}},
                        {"output_tokens", tokens_},
                        {"output_tokens_details", {{"reasoning_tokens", 0}}},
                        {"total_tokens", input + tokens_}};
    return {{"id", id("resp")},
            {"object", "response"},
            {"created_at", created()},
            {"status", status},
            {"error", nullptr},
            {"incomplete_details", cut ? Json{{"reason", "max_output_tokens"}} : Json()},
            {"instructions", echoed_.instructions},
            {"max_output_tokens", echoed_.max_output_tokens},
            {"model", model_name()},
            {"output", std::move(output)},
            {"parallel_tool_calls", true},
            {"previous_response_id", nullptr},
            {"store", false},
            {"temperature", echoed_.temperature},
            {"text", {{"format", echoed_.text_format}}},
            {"tool_choice", "auto"},
            {"tools", Json::array()},
            {"top_p", echoed_.top_p},
            {"truncation", "disabled"},
            {"usage", ended ? usage : Json()},
            {"metadata", echoed_.metadata}};
  }

  void send(const char* type, const Json& fields) {
    Json event = {{"type", type}, {"sequence_number", events_++}};
    event.update(fields);
    call().send_json_event(event, type);
  }

  /// The fields, and the place of the message's only part.
  Json with_place(const Json& fields) const {
    Json whole = {{"item_id", id("msg")}, {"output_index", message_index_}, {"content_index", 0}};
    whole.update(fields);
    return whole;
  }

  void begin() {
    if (std::exchange(begun_, true)) return;
    call().begin_events();
    send("response.created", {{"response", response("in_progress")}});
    send("response.in_progress", {{"response", response("in_progress")}});
  }

  /// Reasoning, which comes before the message, is sent whole.
  void begin_message() {
    if (std::exchange(message_begun_, true)) return;
    if (!answer_.reasoning_content.empty()) {
      send("response.output_item.added", {{"output_index", 0}, {"item", reasoning()}});
      send("response.output_item.done", {{"output_index", 0}, {"item", reasoning()}});
      message_index_ = 1;
    }
    send("response.output_item.added",
         {{"output_index", message_index_}, {"item", message("in_progress")}});
    Json empty = part();
    empty["text"] = "";
    send("response.content_part.added", with_place({{"part", std::move(empty)}}));
  }

  void on_delta(size_t /*i*/, const Delta& delta) override {
    tokens_ += std::ssize(delta.tokens);
    ChatAnswer answer = reader_.feed(delta.text);
    if (delta.generation) {
      answer.add(reader_.finish());
      if (delta.generation->finish_reason == FinishReason::length) status_ = "incomplete";
    }
    answer_.add(answer);
    if (!stream_) return;
    begin();
    if (answer.content.empty()) return;
    begin_message();
    send("response.output_text.delta",
         with_place({{"delta", answer.content}, {"logprobs", Json::array()}}));
  }

  void on_end() override {
    if (!stream_) return call().respond_json(response(status_));
    begin_message();
    send("response.output_text.done",
         with_place({{"text", answer_.content}, {"logprobs", Json::array()}}));
    send("response.content_part.done", with_place({{"part", part()}}));
    send("response.output_item.done",
         {{"output_index", message_index_}, {"item", message(status_)}});
    const bool cut = status_ == std::string_view("incomplete");
    send(cut ? "response.incomplete" : "response.completed", {{"response", response(status_)}});
    call().end_events();
  }

  const bool stream_;
  AnswerReader reader_;
  const EchoedFields echoed_;
  ChatAnswer answer_;
  const char* status_ = "completed";
  int64_t tokens_ = 0, events_ = 0, message_index_ = 0;
  bool begun_ = false, message_begun_ = false;
};

/// A text, or a list of parts with a text.
std::string read_content(JsonFields& message) {
  const Json& content = message.require("content");
  if (!content.is_array()) return message.required_text("content");
  std::string text;
  for (size_t i = 0; i < content.size(); ++i) {
    JsonFields part(content[i], fmt::format("{}[{}]", message.path_of("content"), i));
    part.one_of("type", {"input_text", "output_text"});
    part.ignore({"annotations", "logprobs"});
    if (i > 0) text += '\n';
    text += part.required_text("text");
    part.refuse_others();
  }
  return text;
}

std::vector<ChatMessage> read_input(JsonFields& fields) {
  std::vector<ChatMessage> messages;
  if (const auto instructions = fields.text("instructions"))
    messages.push_back({.role = "system", .content = *instructions});
  const Json& input = fields.require("input");
  if (!input.is_array()) {
    messages.push_back({.role = "user", .content = fields.required_text("input")});
    return messages;
  }
  if (input.empty()) throw invalid_request("input", "input is empty");
  for (size_t i = 0; i < input.size(); ++i) {
    JsonFields message(input[i], fmt::format("input[{}]", i));
    message.one_of("type", {"message"});
    message.ignore({"id", "status"});
    std::string role = message.one_of("role", {"user", "assistant", "system", "developer"});
    messages.push_back({.role = std::move(role), .content = read_content(message)});
    message.refuse_others();
  }
  return messages;
}

Json or_null(const Json* value) { return value ? *value : Json(); }

}  // namespace

void post_responses(const ModelCall& call) {
  const Model& model = call.model();
  require_task(call.target, call.target.tasks.chat, "chat");
  JsonFields fields(call.body);
  fields.ignore(
      {"model", "user", "store", "service_tier", "safety_identifier", "prompt_cache_key"});
  const std::vector<ChatMessage> messages = read_input(fields);
  GenerateOptions options = read_sampling(fields, model);
  if (const auto limit =
          fields.integer("max_output_tokens", 1, std::numeric_limits<int32_t>::max()))
    options.max_new_tokens = limit;
  const bool stream = fields.boolean("stream").value_or(false);
  fields.only("tools", Json::array());
  fields.one_of("tool_choice", {"auto", "none"});
  fields.only("parallel_tool_calls", true);
  TextFormat format = read_text_format(call, fields);
  options.structured_output = std::move(format.output);
  fields.only("truncation", "disabled");
  fields.only("background", false);
  Json metadata = or_null(fields.find("metadata"));
  if (metadata.is_null()) metadata = Json::object();
  EchoedFields repeated{.instructions = or_null(fields.find("instructions")),
                        .max_output_tokens = or_null(fields.find("max_output_tokens")),
                        .temperature = or_null(fields.find("temperature")),
                        .top_p = or_null(fields.find("top_p")),
                        .text_format = std::move(format.format),
                        .metadata = std::move(metadata)};
  fields.refuse_others();

  const ChatPrompt prompt = make_prompt(model, messages, {}, "input");
  set_answer_limit(options, model, prompt);
  std::make_shared<ResponseCall>(call, stream, prompt, messages.size(), std::move(repeated))
      ->start({{.prompt = prompt.tokens, .options = prepared_answer(model, prompt, options)}},
              {std::ssize(prompt.tokens)}, "input");
}

}  // namespace heed::serve
