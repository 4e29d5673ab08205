#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "heed/chat.h"
#include "heed/generation.h"
#include "heed/model.h"
#include "heed/session.h"

namespace heed::cli {

/// What to do with a conversation that does not fit the model's context.
enum class WhenFull { stop, drop_oldest };

/// "stop" or "drop-oldest".
constexpr std::string_view name_of(WhenFull choice) {
  return choice == WhenFull::stop ? "stop" : "drop-oldest";
}

struct ConversationOptions {
  GenerateOptions generate = {};  // without max_new_tokens: what is left of the context
  ChatOptions chat = {};
  WhenFull when_full = WhenFull::stop;
  int64_t context = 0;  // tokens of prompt and answer; 0: the model's
};

/// What answering a message took.
struct AnswerStatistics {
  int64_t prompt_tokens = 0, computed_prompt_tokens = 0, tokens = 0;
  double first_token_seconds = 0, seconds = 0;  // to the first token; to the last one
};

/// Messages, and the session in which a model answers them. Only new tokens are computed.
class Conversation {
 public:
  /// `interrupted` is asked while an answer is computed; if it returns true, the answer ends.
  Conversation(const Model& model, ConversationOptions options, std::function<bool()> interrupted);

  enum class Outcome {
    complete,
    stopped,      // by `interrupted`
    length,       // max_new_tokens
    context_full  // while the answer was generated
  };
  /// Answers the messages and appends the answer; `on_part` receives it while it is generated.
  /// Drops the oldest turns first if they do not fit and options say so. Throws Error, and appends
  /// nothing, when the messages do not fit or the template refuses them.
  Outcome answer(const std::function<void(const ChatAnswer&)>& on_part);

  std::vector<ChatMessage> messages;
  ConversationOptions options;

  /// Of the last answer.
  const AnswerStatistics& statistics() const { return statistics_; }
  /// The last answer has a call that could not be read.
  bool malformed_tool_call() const { return malformed_tool_call_; }
  /// Messages that the last answer() dropped.
  size_t dropped() const { return dropped_; }
  /// Tokens that prompt and answer may have; 0: no limit.
  int64_t context() const;

 private:
  ChatPrompt fitting_prompt();
  bool drop_oldest_turn();
  GenerateOptions generate_options(const ChatPrompt& prompt) const;

  Model model_;
  std::function<bool()> interrupted_;
  Session session_;
  ChatPrompt earlier_;  // the last prompt and its answer
  AnswerStatistics statistics_;
  bool malformed_tool_call_ = false;
  size_t dropped_ = 0;
};

}  // namespace heed::cli
