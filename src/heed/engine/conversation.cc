#include "heed/conversation.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "heed/base/error.h"
#include "heed/engine/loaded_model.h"

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;

/// Tokens of a prompt that are computed at once. Few, so that an interruption is noticed soon.
constexpr int64_t kPrefillTokens = 64;
/// The part of the context that is kept free for an answer when turns are dropped.
constexpr int64_t kAnswerShare = 4;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

SessionOptions session_options(const std::function<bool()>& interrupted) {
  constexpr int64_t kUnlimited = int64_t{1} << 31;
  return {.max_active_tokens = kUnlimited,
          .max_prefill_tokens = kPrefillTokens,
          .max_cached_tokens = kUnlimited,
          .interrupted = interrupted};
}

}  // namespace

Conversation::Conversation(const Model& model, ConversationOptions own_options,
                           std::function<bool()> interrupted)
    : options(std::move(own_options)),
      model_(model),
      interrupted_(std::move(interrupted)),
      session_(model, session_options(interrupted_)) {}

int64_t Conversation::context() const {
  const int64_t own = model_.context_length();
  if (options.context == 0 || own == 0) return std::max(options.context, own);
  return std::min(options.context, own);
}

/// Drops the messages from the first one of a user up to the next one. Returns false if that would
/// leave no question.
bool Conversation::drop_oldest_turn() {
  const auto asks = [](const ChatMessage& message) { return message.role == "user"; };
  const auto first = std::ranges::find_if(messages, asks);
  if (first == messages.end()) return false;
  const auto next = std::find_if(first + 1, messages.end(), asks);
  if (next == messages.end()) return false;
  dropped_ += static_cast<size_t>(next - first);
  messages.erase(first, next);
  return true;
}

ChatPrompt Conversation::fitting_prompt() {
  dropped_ = 0;
  const int64_t limit = context();
  ChatPrompt prompt = model_.chat_prompt(messages, options.chat, earlier_);
  if (limit == 0) return prompt;
  if (options.when_full == WhenFull::drop_oldest && std::ssize(prompt.tokens) >= limit) {
    // All of them at once, so that the next turns fit as well.
    while (std::ssize(prompt.tokens) > limit - limit / kAnswerShare && drop_oldest_turn())
      prompt = model_.chat_prompt(messages, options.chat);
  }
  require(std::ssize(prompt.tokens) < limit, "the conversation has {} tokens, and the context {}",
          prompt.tokens.size(), limit);
  return prompt;
}

GenerateOptions Conversation::generate_options(const ChatPrompt& prompt) const {
  GenerateOptions generate = answer_options(prompt, options.generate);
  if (!generate.max_new_tokens)
    generate.max_new_tokens = engine::loaded(model_).generation.value().max_new_tokens;
  const int64_t limit = context();
  const int64_t left = limit > 0 ? limit - static_cast<int64_t>(prompt.tokens.size())
                                 : std::numeric_limits<int32_t>::max();
  generate.max_new_tokens = std::min(left, generate.max_new_tokens.value_or(left));
  return generate;
}

Conversation::Outcome Conversation::answer(const std::function<void(const ChatAnswer&)>& on_part) {
  const auto start = Clock::now();
  const size_t before = messages.size();
  ChatPrompt prompt;
  {
    std::vector<ChatMessage> kept = messages;
    try {
      prompt = fitting_prompt();
    } catch (...) {
      messages = std::move(kept);
      throw;
    }
  }
  AnswerReader reader(prompt.answer, before);
  ChatAnswer answer;
  std::string text;
  std::vector<int32_t> tokens;
  std::optional<FinishReason> reason;
  statistics_ = {.prompt_tokens = static_cast<int64_t>(prompt.tokens.size())};
  const auto report = [&](const ChatAnswer& part) {
    answer.add(part);
    if (!part.empty()) on_part(part);
  };
  const GenerateOptions generate = generate_options(prompt);
  const int64_t reused = session_.reused_tokens();
  const auto collect = [&](const Delta& delta) {
    if (delta.error) fail("{}", delta.error->what());
    if (tokens.empty()) statistics_.first_token_seconds = seconds_since(start);
    text += delta.text;
    tokens.insert(tokens.end(), delta.tokens.begin(), delta.tokens.end());
    if (delta.generation) reason = delta.generation->finish_reason;
    report(reader.feed(delta.text));
    return true;
  };
  const RequestId request = session_.add({.prompt = prompt.tokens, .options = generate}, collect);
  try {
    while (!(interrupted_ && interrupted_()) && session_.step()) {
    }
  } catch (...) {
    session_.cancel(request);
    throw;
  }
  session_.cancel(request);
  report(reader.finish());
  statistics_.seconds = seconds_since(start);
  statistics_.tokens = static_cast<int64_t>(tokens.size());
  statistics_.computed_prompt_tokens =
      statistics_.prompt_tokens - (session_.reused_tokens() - reused);
  malformed_tool_call_ = answer.malformed_tool_call;
  messages.push_back({.role = "assistant",
                      .content = std::move(answer.content),
                      .reasoning_content = std::move(answer.reasoning_content),
                      .tool_calls = std::move(answer.tool_calls)});
  earlier_ = std::move(prompt);
  earlier_.text += text;
  earlier_.tokens.insert(earlier_.tokens.end(), tokens.begin(), tokens.end());
  if (!reason) return Outcome::stopped;
  if (*reason == FinishReason::stop) return Outcome::complete;
  const bool full = context() > 0 && static_cast<int64_t>(earlier_.tokens.size()) >= context();
  return full ? Outcome::context_full : Outcome::length;
}

}  // namespace heed
