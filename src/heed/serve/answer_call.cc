#include "heed/serve/answer_call.h"

#include "heed/base/json.h"

namespace heed::serve {
namespace {

void set_template_variable(ChatOptions& options, const char* name, const Json& value) {
  Json variables = options.chat_template_kwargs.empty() ? Json::object()
                                                        : Json::parse(options.chat_template_kwargs);
  variables[name] = value;
  options.chat_template_kwargs = dump_json(variables);
}

}  // namespace

void AnswerCall::ask(std::vector<int32_t> prompt, const GenerateOptions& options,
                     const std::string& param) {
  const std::vector<int64_t> tokens{std::ssize(prompt)};
  enqueue(tokens, param);
  on_accepted();
  add({{.prompt = std::move(prompt), .options = options}}, tokens);
}

void AnswerCall::on_delta(size_t /*i*/, const Delta& delta) {
  output_tokens_ += std::ssize(delta.tokens);
  ChatAnswer part = reader_.feed(delta.text);
  if (delta.generation) {
    part.add(reader_.finish());
    finish_reason_ = delta.generation->finish_reason;
    stop_string_ = delta.generation->stop_string;
  }
  answer_.add(part);
  if (!part.empty()) on_part(part);
}

void set_thinking(ChatOptions& options, bool thinking) {
  // Qwen's, GLM's and others' name, and DeepSeek's and Granite's.
  set_template_variable(options, "enable_thinking", thinking);
  set_template_variable(options, "thinking", thinking);
}

void set_reasoning_effort(ChatOptions& options, const std::string& effort) {
  set_template_variable(options, "reasoning_effort", effort);
}

}  // namespace heed::serve
