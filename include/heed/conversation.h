#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "heed/chat.h"
#include "heed/export.h"
#include "heed/generation.h"
#include "heed/model.h"
#include "heed/session.h"

namespace heed {

/// The choice when a conversation does not fit the model's context: throw Error, or drop the oldest
/// turns, each a message of the user and what follows it.
enum class WhenFull { stop, drop_oldest };

/// "stop" or "drop-oldest".
constexpr std::string_view name_of(WhenFull choice) {
  if (choice == WhenFull::stop) return "stop";
  return choice == WhenFull::drop_oldest ? "drop-oldest" : "?";
}

/// The options of a Conversation.
struct ConversationOptions {
  /// Without max_new_tokens: that of generation_config.json, else what is left of the context.
  GenerateOptions generate = {};
  ChatOptions chat = {};                // how messages become a prompt
  WhenFull when_full = WhenFull::stop;  // once prompt and answer do not fit `context`
  int64_t context = 0;                  // tokens of prompt and answer; 0: the model's
};

/// Tokens and seconds of an answer.
struct AnswerStatistics {
  int64_t prompt_tokens = 0;                    // of all messages
  int64_t computed_prompt_tokens = 0;           // those of them that were not computed before
  int64_t tokens = 0;                           // of the answer
  double first_token_seconds = 0, seconds = 0;  // to the first token; to the last one
};

/// Messages, and the Session in which a model answers them. Only new tokens are computed. It may be
/// used by one thread at a time.
class HEED_EXPORT Conversation {
 public:
  /// `interrupted`, if it is not empty, is asked while an answer is computed; once it returns true,
  /// the answer ends. Throws Error when the model has no decoder that predicts tokens.
  explicit Conversation(const Model& model, ConversationOptions options = {},
                        std::function<bool()> interrupted = {});

  /// The end of an answer.
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

  std::vector<ChatMessage> messages;  // so far; they may be changed between answers
  ConversationOptions options;        // of the next answer

  /// The statistics of the last answer.
  const AnswerStatistics& statistics() const { return statistics_; }
  /// Whether the last answer has a call that could not be read.
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

}  // namespace heed
