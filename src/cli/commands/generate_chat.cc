#include "cli/commands/generate_chat.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/lines/output.h"
#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/session.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A line of input, and what the model makes of it.
struct AnsweredChat {
  size_t messages = 0;
  ChatPrompt prompt;
  Generation generation;
};

Json answer_json(const AnsweredChat& chat, int64_t number) {
  const Generation& generation = chat.generation;
  AnswerReader reader(chat.prompt.answer, chat.messages);
  ChatAnswer answer = reader.feed(generation.text);
  answer.add(reader.finish());
  const bool calls = !answer.tool_calls.empty();
  const std::string message =
      write_chat_messages({{.role = "assistant",
                            .content = std::move(answer.content),
                            .reasoning_content = std::move(answer.reasoning_content),
                            .tool_calls = std::move(answer.tool_calls)}});
  Json json = {{"conversation", number},
               {"message", parse_ordered_json(message, "the answer").front()},
               {"finish_reason", calls ? "tool_calls" : name_of(generation.finish_reason)},
               {"usage",
                {{"prompt_tokens", chat.prompt.tokens.size()},
                 {"completion_tokens", generation.tokens.size()}}}};
  if (answer.malformed_tool_call) json["malformed_tool_call"] = true;
  return json;
}

/// Each conversation is a request of its own: its output does not depend on the others, and what
/// they begin with alike is computed once.
std::vector<AnsweredChat> answer_conversations(const Model& model, Session& session,
                                               const std::vector<std::string>& lines, int64_t first,
                                               const GenerateOptions& generate,
                                               const ChatOptions& options) {
  std::vector<AnsweredChat> answered(lines.size());
  std::vector<RequestId> requests;
  try {
    for (size_t i = 0; i < lines.size(); ++i) {
      const int64_t number = first + static_cast<int64_t>(i);
      name_input("line", number, [&] {
        AnsweredChat& own = answered[i];
        ChatOptions own_options = options;
        const auto messages = read_chat_request(lines[i], "the conversation", own_options);
        own.messages = messages.size();
        own.prompt = model.chat_prompt(messages, own_options);
        const auto collect = [&own, number](const Delta& delta) {
          if (delta.error) fail("line {}: {}", number, delta.error->what());
          if (delta.generation) own.generation = *delta.generation;
          return true;
        };
        requests.push_back(session.add({.prompt = own.prompt.tokens,
                                        .options = answer_options(own.prompt, generate),
                                        .number = number},
                                       collect));
      });
    }
    while (session.step()) {
    }
  } catch (...) {
    for (const RequestId request : requests) session.cancel(request);
    throw;
  }
  return answered;
}

}  // namespace

TokenCount generate_chat(LineProcessor& processor, const Model& model,
                         const GenerateOptions& generate, const ChatOptions& options) {
  Session session(model, {.max_active_tokens = generate.batch_tokens});
  const auto answer_all = [&](const std::vector<std::string>& lines, int64_t first) {
    return answer_conversations(model, session, lines, first, generate, options);
  };
  const auto write = [](const AnsweredChat& chat, int64_t number) {
    return LineAnswer(json_line(answer_json(chat, number - 1)),
                      TokenCount(chat.generation).numbers());
  };
  const LineSums sums =
      processor.answer(model, answer_in_batches(answer_all, write), TokenCount::kColumns);
  return TokenCount(sums.here);
}

}  // namespace heed::cli
