#include "heed/serve/answer_call.h"

namespace heed::serve {

void AnswerCall::ask(std::vector<int32_t> prompt, const GenerateOptions& options,
                     const std::string& param) {
  const std::vector<int64_t> tokens{std::ssize(prompt)};
  start({{.prompt = std::move(prompt), .options = options}}, tokens, param);
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

}  // namespace heed::serve
