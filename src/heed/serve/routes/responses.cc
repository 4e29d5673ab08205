// OpenAI's responses, for text: https://platform.openai.com/docs/api-reference/responses
#include "heed/generate/generate_options.h"
#include "heed/serve/answer_call.h"
#include "heed/serve/fields/chat_fields.h"
#include "heed/serve/fields/response_fields.h"
#include "heed/serve/fields/sampling_fields.h"
#include "heed/serve/fields/structured_output_fields.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

/// What is said part by part: an item of the response with one part, and its events.
struct ItemKind {
  const char* type;    // of the item
  const char* prefix;  // of its id
  const char* part;    // the type of its part
  const char* delta;   // the event of a part of the text
  const char* done;    // the event of the whole text
};
constexpr ItemKind kMessage{"message", "msg", "output_text", "response.output_text.delta",
                            "response.output_text.done"};
constexpr ItemKind kReasoning{"reasoning", "rs", "reasoning_text", "response.reasoning_text.delta",
                              "response.reasoning_text.done"};

class ResponseCall : public AnswerCall {
 public:
  /// `repeated` are the fields of the request that the response repeats.
  ResponseCall(const ModelCall& call, bool stream, const ChatPrompt& prompt, size_t messages,
               Json repeated)
      : AnswerCall(call, prompt.answer, messages),
        stream_(stream),
        repeated_(std::move(repeated)) {}

 private:
  /// The id of the item that is open, or that comes next.
  std::string item_id(const char* prefix) const {
    return fmt::format("{}-{}", id(prefix), output_.size());
  }

  Json part() const {
    Json part = {{"type", open_->part}, {"text", text_}};
    if (open_ == &kMessage) part["annotations"] = Json::array();
    return part;
  }

  /// The open item; before its end it is "in_progress" and has no part.
  Json item(const char* status) const {
    const bool begun = status != std::string_view("in_progress");
    Json item = {{"type", open_->type}, {"id", item_id(open_->prefix)}, {"status", status}};
    if (open_ == &kMessage)
      item["role"] = "assistant";
    else
      item["summary"] = Json::array();
    item["content"] = begun ? Json::array({part()}) : Json::array();
    return item;
  }

  /// "completed" or "incomplete"; "in_progress" before the end.
  Json response(const char* status) const {
    const bool ended = status != std::string_view("in_progress");
    const bool cut = status == std::string_view("incomplete");
    // The details, which clients check for, are those of a service that bills: not counted here.
    const int64_t input = prompt_tokens();
    const Json usage = {{"input_tokens", input},
                        {"input_tokens_details", {{"cached_tokens", 0}, {"cache_write_tokens", 0}}},
                        {"output_tokens", output_tokens()},
                        {"output_tokens_details", {{"reasoning_tokens", 0}}},
                        {"total_tokens", input + output_tokens()}};
    Json json = {{"id", id("resp")},
                 {"object", "response"},
                 {"created_at", created()},
                 {"status", status},
                 {"error", nullptr},
                 {"incomplete_details", cut ? Json{{"reason", "max_output_tokens"}} : Json()},
                 {"model", model_name()},
                 {"output", ended ? output_ : Json::array()},
                 {"previous_response_id", nullptr},
                 {"store", false},
                 {"truncation", "disabled"},
                 {"usage", ended ? usage : Json()}};
    json.update(repeated_);
    if (!seed().is_null()) json["seed"] = seed();
    return json;
  }

  void send(const char* type, const Json& fields) {
    if (!stream_) return;
    Json event = {{"type", type}, {"sequence_number", events_++}};
    event.update(fields);
    call().send_json_event(event, type);
  }

  /// The fields, and the place of the open item's only part.
  Json with_place(const Json& fields) const {
    Json whole = {{"item_id", item_id(open_->prefix)},
                  {"output_index", output_.size()},
                  {"content_index", 0}};
    whole.update(fields);
    if (open_ == &kMessage && !fields.contains("part")) whole["logprobs"] = Json::array();
    return whole;
  }

  void on_accepted() override {
    if (!stream_) return;
    call().begin_events();
    send("response.created", {{"response", response("in_progress")}});
    send("response.in_progress", {{"response", response("in_progress")}});
  }

  void open(const ItemKind& kind) {
    if (open_ == &kind) return;
    close("completed");
    open_ = &kind;
    send("response.output_item.added",
         {{"output_index", output_.size()}, {"item", item("in_progress")}});
    send("response.content_part.added", with_place({{"part", part()}}));
  }

  void add_text(const ItemKind& kind, const std::string& text) {
    if (text.empty()) return;
    open(kind);
    text_ += text;
    send(kind.delta, with_place({{"delta", text}}));
  }

  /// Ends the open item, if there is one.
  void close(const char* status) {
    if (!open_) return;
    send(open_->done, with_place({{"text", text_}}));
    send("response.content_part.done", with_place({{"part", part()}}));
    Json done = item(status);
    send("response.output_item.done", {{"output_index", output_.size()}, {"item", done}});
    output_.push_back(std::move(done));
    open_ = nullptr;
    text_.clear();
  }

  /// Calls are read whole.
  void add_call(const ToolCall& tool_call) {
    close("completed");
    const size_t index = output_.size();
    Json item = {{"type", "function_call"}, {"id", item_id("fc")}, {"call_id", tool_call.id},
                 {"name", tool_call.name},  {"arguments", ""},     {"status", "in_progress"}};
    send("response.output_item.added", {{"output_index", index}, {"item", item}});
    const Json place = {{"item_id", item["id"]}, {"output_index", index}};
    Json delta = place, done = place;
    delta["delta"] = done["arguments"] = tool_call.arguments;
    done["name"] = tool_call.name;
    send("response.function_call_arguments.delta", delta);
    send("response.function_call_arguments.done", done);
    item["arguments"] = tool_call.arguments;
    item["status"] = "completed";
    send("response.output_item.done", {{"output_index", index}, {"item", item}});
    output_.push_back(std::move(item));
  }

  void on_part(const ChatAnswer& part) override {
    add_text(kReasoning, part.reasoning_content);
    add_text(kMessage, part.content);
    for (const ToolCall& tool_call : part.tool_calls) add_call(tool_call);
  }

  void on_answered() override {
    const bool called = !output_.empty() && output_.back()["type"] == "function_call";
    if (!called) open(kMessage);  // an answer without text has an empty message
    const bool cut = finish_reason() == FinishReason::length;
    const char* const status = cut ? "incomplete" : "completed";
    close(status);
    if (!stream_) return call().respond_json(response(status));
    send(cut ? "response.incomplete" : "response.completed", {{"response", response(status)}});
    call().end_events();
  }

  const bool stream_;
  const Json repeated_;
  Json output_ = Json::array();     // the items that have ended
  const ItemKind* open_ = nullptr;  // the item behind them, and what it has said
  std::string text_;
  int64_t events_ = 0;
};

/// The fields of the request that the response repeats; null where they are absent.
Json repeated_fields(JsonFields& fields, Json text_format) {
  Json repeated = {{"text", {{"format", std::move(text_format)}}}};
  for (const char* const name :
       {"instructions", "max_output_tokens", "temperature", "top_p", "reasoning"}) {
    const Json* const value = fields.find(name);
    repeated[name] = value ? *value : Json();
  }
  const auto or_else = [&](const char* name, Json otherwise) {
    const Json* const value = fields.find(name);
    repeated[name] = value ? *value : std::move(otherwise);
  };
  or_else("metadata", Json::object());
  or_else("parallel_tool_calls", true);
  or_else("tool_choice", "auto");
  or_else("tools", Json::array());
  return repeated;
}

}  // namespace

void post_responses(const ModelCall& call) {
  const Model& model = call.model();
  require_task(call.target, call.target.tasks.chat, "chat");
  JsonFields fields = call.fields();
  fields.ignore({"model", "include", "max_tool_calls"});
  const std::vector<ChatMessage> messages = read_response_input(fields);
  ChatOptions chat = read_response_tools(fields);
  read_reasoning(model, fields, chat);
  GenerateOptions options = read_chat_sampling(call, fields);
  if (const auto limit = fields.integer("max_output_tokens", 1,
                                        generate::GenerateOption::max_new_tokens.served.max))
    options.max_new_tokens = limit;
  const bool stream = read_stream(fields).stream;
  TextFormat format = read_text_format(call, fields);
  options.structured_output = std::move(format.output);
  fields.only("truncation", "disabled");
  fields.only("background", false);
  fields.only("n", 1);  // these three are of chat completions
  fields.only("logprobs", false);
  fields.only("top_logprobs", 0);
  // Nothing is stored.
  for (const char* const name : {"previous_response_id", "conversation", "prompt"})
    fields.only(name, Json());
  Json repeated = repeated_fields(fields, std::move(format.format));
  fields.end();

  const ChatPrompt prompt = make_prompt(model, messages, chat, "input");
  set_answer_limit(options, model, prompt);
  read_ignore_eos(fields, prompt.end_tokens, options);
  std::make_shared<ResponseCall>(call, stream, prompt, messages.size(), std::move(repeated))
      ->ask(prompt.tokens, prepared_answer(model, prompt, options), "input");
}

}  // namespace heed::serve
