// OpenAI's chat completions: https://platform.openai.com/docs/api-reference/chat
#include "heed/chat/messages.h"
#include "heed/generate/generate_options.h"
#include "heed/serve/fields/chat_fields.h"
#include "heed/serve/fields/sampling_fields.h"
#include "heed/serve/fields/structured_output_fields.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/routes.h"
#include "heed/serve/token_text.h"

namespace heed::serve {
namespace {

class ChatCall : public GenerationCall {
 public:
  ChatCall(const ModelCall& call, StreamFields stream, const ChatPrompt& prompt, size_t messages,
           int64_t n)
      : GenerationCall(call), stream_(stream) {
    for (int64_t i = 0; i < n; ++i)
      choices_.push_back(
          {.reader = AnswerReader(prompt.answer, messages + static_cast<size_t>(i))});
  }

 private:
  struct Choice {
    AnswerReader reader;
    ChatAnswer answer = {};
    Json log_probabilities = Json::array();
    int64_t tokens = 0;
    std::string finish_reason = {};
    bool begun = false;
  };

  Json entry(const TokenLogProbability& token) const {
    const std::string bytes = model().token_bytes(token.token);
    Json entry = {{"token", text_of_bytes(bytes)},
                  {"logprob", token.log_probability},
                  {"bytes", std::vector<uint8_t>(bytes.begin(), bytes.end())}};
    if (!token.forbidden.empty()) entry["forbidden"] = token.forbidden;
    return entry;
  }

  Json log_probabilities(const Delta& delta) const {
    Json list = Json::array();
    for (size_t i = 0; i < delta.chosen.size(); ++i) {
      Json token = entry(delta.chosen[i]);
      token["top_logprobs"] = Json::array();
      for (const TokenLogProbability& one : delta.best[i])
        token["top_logprobs"].push_back(entry(one));
      list.push_back(std::move(token));
    }
    return list;
  }

  static Json content_or_null(const Json& list) {
    return list.empty() ? Json() : Json{{"content", list}};
  }

  Json chunk(Json choices) const {
    return completion("chatcmpl", "chat.completion.chunk", std::move(choices));
  }

  void send(size_t i, const Json& delta, const Json& log_probabilities, const Json& finish_reason) {
    call().begin_events();
    call().send_json_event(chunk(Json::array({{{"index", i},
                                               {"delta", delta},
                                               {"logprobs", log_probabilities},
                                               {"finish_reason", finish_reason}}})));
  }

  /// The "delta" of a chunk: the fields that a part of an answer adds to the message.
  static Json delta_json(const ChatAnswer& part, size_t calls_before) {
    Json delta = Json::object();
    if (!part.reasoning_content.empty()) delta["reasoning_content"] = part.reasoning_content;
    if (!part.content.empty()) delta["content"] = part.content;
    if (!part.tool_calls.empty()) {
      delta["tool_calls"] = chat::to_json(part.tool_calls);
      for (Json& tool_call : delta["tool_calls"]) tool_call["index"] = calls_before++;
    }
    return delta;
  }

  void on_accepted() override {
    if (stream_.stream) call().begin_events();
  }

  void on_delta(size_t i, const Delta& delta) override {
    Choice& choice = choices_[i];
    choice.tokens += std::ssize(delta.tokens);
    ChatAnswer part = choice.reader.feed(delta.text);
    if (delta.generation) part.add(choice.reader.finish());
    const size_t calls_before = choice.answer.tool_calls.size();
    const Json list = log_probabilities(delta);
    if (stream_.stream) {
      if (!std::exchange(choice.begun, true))
        send(i, {{"role", "assistant"}, {"content", ""}}, nullptr, nullptr);
      if (!part.empty() || !list.empty())
        send(i, delta_json(part, calls_before), content_or_null(list), nullptr);
    } else {
      choice.log_probabilities.insert(choice.log_probabilities.end(), list.begin(), list.end());
    }
    choice.answer.add(part);
    if (!delta.generation) return;
    const bool calls = !choice.answer.tool_calls.empty();
    choice.finish_reason = calls ? "tool_calls" : name_of(delta.generation->finish_reason);
    if (stream_.stream) send(i, Json::object(), nullptr, choice.finish_reason);
  }

  void on_end() override {
    int64_t tokens = 0;
    for (const Choice& choice : choices_) tokens += choice.tokens;
    if (stream_.stream) return end_stream(stream_, chunk(Json::array()), tokens);
    Json list = Json::array();
    for (Choice& choice : choices_) {
      ChatAnswer& answer = choice.answer;
      Json message =
          chat::to_json(ChatMessage{.role = "assistant",
                                    .content = std::move(answer.content),
                                    .reasoning_content = std::move(answer.reasoning_content),
                                    .tool_calls = std::move(answer.tool_calls)});
      if (answer.malformed_tool_call) message["malformed_tool_call"] = true;
      list.push_back({{"index", list.size()},
                      {"message", std::move(message)},
                      {"logprobs", content_or_null(choice.log_probabilities)},
                      {"finish_reason", choice.finish_reason}});
    }
    respond_with_usage(completion("chatcmpl", "chat.completion", std::move(list)), tokens);
  }

  const StreamFields stream_;
  std::vector<Choice> choices_;
};

void read_log_probabilities(JsonFields& fields, GenerateOptions& options) {
  const bool wanted = fields.boolean("logprobs").value_or(false);
  const auto top =
      fields.integer("top_logprobs", 0, generate::GenerateOption::top_log_probabilities.served.max);
  if (top && *top > 0 && !wanted)
    throw invalid_request("top_logprobs", "top_logprobs needs logprobs to be true");
  if (wanted) options.top_log_probabilities = static_cast<int>(top.value_or(0));
}

}  // namespace

void post_chat_completions(const ModelCall& call) {
  const Model& model = call.model();
  require_task(call.target, call.target.tasks.chat, "chat");
  JsonFields fields = call.fields();
  fields.ignore({"model"});
  const ChatFields chat = read_chat(model, fields);
  GenerateOptions options = read_chat_sampling(call, fields);
  read_log_probabilities(fields, options);
  const int64_t n = read_n(fields);
  const StreamFields stream = read_stream(fields);
  options.structured_output = read_structured_output(call, fields);
  fields.only("modalities", Json::array({"text"}));
  const auto keep = read_kept_tokens(fields, model);
  fields.only("add_generation_prompt", true);  // these two are vLLM's and llama.cpp's
  fields.only("continue_final_message", false);
  for (const auto& [name, value] : {std::pair{"echo", Json(false)}, {"best_of", Json(1)}})
    fields.only(name, value);  // of completions
  fields.end();

  ChatPrompt prompt = make_prompt(model, chat.messages, chat.options, "messages");
  if (keep) keep_last_tokens(prompt.tokens, *keep);
  set_answer_limit(options, model, prompt);
  read_ignore_eos(fields, prompt.end_tokens, options);
  options = prepared_answer(model, prompt, options);
  std::vector<Request> requests;
  for (int64_t i = 0; i < n; ++i)
    requests.push_back({.prompt = prompt.tokens, .options = options, .number = i + 1});
  const std::vector<int64_t> tokens(requests.size(), std::ssize(prompt.tokens));
  std::make_shared<ChatCall>(call, stream, prompt, chat.messages.size(), n)
      ->start(std::move(requests), tokens, "messages");
}

}  // namespace heed::serve
