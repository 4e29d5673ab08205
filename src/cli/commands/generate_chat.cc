#include "cli/commands/generate_chat.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/lines/json_line.h"
#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/session.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

/// One conversation and what is asked of the model.
struct Task {
  std::vector<ChatMessage> messages;
  ChatPrompt prompt;
};

/// A line may have tools and template variables of its own.
Task read_task(const Model& model, const std::string& line, const ChatOptions& standard) {
  const Json json = parse_ordered_json(line, "the conversation");
  Task task{.messages = read_chat_messages(line, "the conversation"), .prompt = {}};
  ChatOptions options = standard;
  if (json.is_object()) {
    if (json.contains("tools")) options.tools = dump_json(json["tools"]);
    if (json.contains("chat_template_kwargs"))
      options.chat_template_kwargs = dump_json(json["chat_template_kwargs"]);
  }
  task.prompt = model.chat_prompt(task.messages, options);
  return task;
}

Json answer_json(const Task& task, const Generation& generation, int64_t number) {
  AnswerReader reader(task.prompt.answer, task.messages.size());
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
                {{"prompt_tokens", task.prompt.tokens.size()},
                 {"completion_tokens", generation.tokens.size()}}}};
  if (answer.malformed_tool_call) json["malformed_tool_call"] = true;
  return json;
}

struct Answered {
  Task task;
  Generation generation;
};

/// Each conversation is a request of its own: its output does not depend on the others, and what
/// they begin with alike is computed once.
std::vector<Answered> answer_conversations(const Model& model, Session& session,
                                           const std::vector<std::string>& lines, int64_t first,
                                           const GenerateOptions& generate,
                                           const ChatOptions& options) {
  std::vector<Answered> answered(lines.size());
  std::vector<RequestId> requests;
  try {
    for (size_t i = 0; i < lines.size(); ++i) {
      const int64_t number = first + static_cast<int64_t>(i);
      name_input("line", number, [&] {
        Answered& own = answered[i];
        own.task = read_task(model, lines[i], options);
        const auto collect = [&own, number](const Delta& delta) {
          if (delta.error) fail("line {}: {}", number, delta.error->what());
          if (delta.generation) own.generation = *delta.generation;
          return true;
        };
        requests.push_back(session.add({.prompt = own.task.prompt.tokens,
                                        .options = answer_options(own.task.prompt, generate),
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

TokenCount generate_chat(LineWork& work, const Model& model, const GenerateOptions& generate,
                         const ChatOptions& options) {
  Session session(model, {.max_active_tokens = generate.batch_tokens});
  return TokenCount(
      work.answer(model,
                  answer_in_batches(
                      [&](const std::vector<std::string>& lines, int64_t first) {
                        return answer_conversations(model, session, lines, first, generate,
                                                    options);
                      },
                      [&](const Answered& answered, int64_t number) {
                        return LineAnswer(
                            json_line(answer_json(answered.task, answered.generation, number - 1)),
                            TokenCount(answered.generation).numbers());
                      }),
                  TokenCount::kColumns)
          .here);
}

}  // namespace heed::cli
