#include "cli/chat/chat_loop.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>

#include "cli/chat/chat_settings.h"
#include "cli/terminal/warnings.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/quote.h"
#include "heed/base/utf8.h"

namespace heed::cli {
namespace {

constexpr std::string_view kFence = "\"\"\"";

bool is_system(const ChatMessage& message) { return message.role == "system"; }

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

struct ChatLoop::Command {
  std::string_view name, argument, help;
  void (ChatLoop::*run)(const std::string& argument);
};

const std::vector<ChatLoop::Command>& ChatLoop::commands() {
  static const std::vector<Command> kCommands{
      {"/help", "", "shows this", &ChatLoop::help},
      {"/system", "[TEXT]", "sets the system message, or removes it", &ChatLoop::set_system},
      {"/regenerate", "", "answers the last message again, with another seed",
       &ChatLoop::regenerate},
      {"/undo", "", "takes back the last message and its answer", &ChatLoop::undo},
      {"/clear", "", "begins a new conversation; the system message stays", &ChatLoop::clear},
      {"/save", "FILE", "writes the conversation as JSON", &ChatLoop::save},
      {"/load", "FILE", "goes on with a conversation that was saved", &ChatLoop::load},
      {"/stats", "", "shows tokens and speed", &ChatLoop::show_statistics},
      {"/set", "[NAME VALUE]", "changes a setting, or shows all", &ChatLoop::set},
      {"/tool", "RESULT", "answers a call of a tool", &ChatLoop::return_result},
      {"/quit", "", "ends the program, as Ctrl-D does", &ChatLoop::quit}};
  return kCommands;
}

ChatLoop::ChatLoop(const Model& model, ConversationOptions options, const std::string& system,
                   LineEditor& editor)
    : editor_(editor),
      printer_(::isatty(STDOUT_FILENO) == 1),
      conversation_(model, std::move(options), [this] { return stop_ && stop_->requested(); }) {
  if (!system.empty()) set_system(system);
}

int ChatLoop::run() {
  if (editor_.interactive())
    print_message("/help shows the commands; Ctrl-C stops an answer, Ctrl-D ends the program");
  while (!done_) {
    const std::optional<std::string> message = read_message();
    if (!message) break;
    try {
      handle(*message);
    } catch (const Error& error) {
      if (!editor_.interactive()) throw;
      print_message(fmt::format("error: {}", error.what()));
    }
  }
  return status_;
}

std::optional<std::string> ChatLoop::read_message() {
  std::optional<std::string> line = editor_.read("> ");
  if (!line) return std::nullopt;
  std::string text = *line;
  const auto read_more = [&] {
    line = editor_.read(". ");
    if (line) text += '\n' + *line;
    return line.has_value();
  };
  if (text.starts_with(kFence)) {
    text.erase(0, kFence.size());
    while (!text.ends_with(kFence) && read_more()) {
    }
    if (text.ends_with(kFence)) text.resize(text.size() - kFence.size());
    if (text.starts_with('\n')) text.erase(0, 1);
    if (text.ends_with('\n')) text.pop_back();
    return text;
  }
  while (text.ends_with('\\')) {
    text.pop_back();
    if (!read_more()) break;
  }
  return text;
}

void ChatLoop::handle(const std::string& line) {
  require_utf8(line, "the message");
  if (trimmed(line).empty()) return;
  if (line.starts_with('/')) return run_command(line);
  ask({.role = "user", .content = line});
}

void ChatLoop::run_command(const std::string& line) {
  const size_t space = std::min(line.find_first_of(" \n"), line.size());
  const std::string name = line.substr(0, space);
  const auto found = std::ranges::find(commands(), name, &Command::name);
  require(found != commands().end(),
          "there is no command {}: /help shows them (a message that begins with / goes between "
          "{} and {})",
          quoted(name), kFence, kFence);
  const std::string argument = trimmed(line.substr(space));
  require(!argument.empty() || found->argument.empty() || found->argument.starts_with('['),
          "{} needs {}", name, found->argument);
  (this->*found->run)(argument);
}

/// Appends a message and answers it; if that is impossible, the conversation stays as it was.
void ChatLoop::ask(ChatMessage message) {
  const std::vector<ChatMessage> before = conversation_.messages;
  conversation_.messages.push_back(std::move(message));
  try {
    answer();
  } catch (...) {
    conversation_.messages = before;
    throw;
  }
}

void ChatLoop::answer() {
  stop_.emplace();
  Conversation::Outcome outcome;
  try {
    outcome = conversation_.answer([&](const ChatAnswer& part) { printer_.print(part); });
  } catch (...) {
    stop_.reset();
    printer_.finish();
    throw;
  }
  printer_.finish();
  const bool terminated = stop_->terminated();
  stop_.reset();
  if (terminated) {
    done_ = true;
    status_ = 128 + SIGTERM;
    return;
  }
  report(outcome);
}

void ChatLoop::report(Conversation::Outcome outcome) {
  if (conversation_.dropped() > 0)
    print_message(fmt::format("the context was full: the {} oldest messages were dropped",
                              conversation_.dropped()));
  if (outcome == Conversation::Outcome::stopped) print_message("stopped");
  if (outcome == Conversation::Outcome::length)
    print_message("the answer reached --max-new-tokens");
  if (outcome == Conversation::Outcome::context_full)
    print_message(fmt::format("the context of {} tokens is full", conversation_.context()));
  if (conversation_.malformed_tool_call())
    print_message("the answer has a malformed call of a tool");
}

void ChatLoop::help(const std::string&) {
  for (const Command& command : commands())
    std::cout << fmt::format("{:<24}{}\n", fmt::format("{} {}", command.name, command.argument),
                             command.help);
  std::cout << fmt::format("{:<24}{}\n", "line\\", "continues on the next line")
            << fmt::format("{:<24}{}\n", "\"\"\"lines\"\"\"", "is one message");
}

void ChatLoop::set_system(const std::string& text) {
  std::vector<ChatMessage>& messages = conversation_.messages;
  if (!messages.empty() && is_system(messages.front())) messages.erase(messages.begin());
  if (!text.empty()) messages.insert(messages.begin(), {.role = "system", .content = text});
}

void ChatLoop::regenerate(const std::string&) {
  std::vector<ChatMessage>& messages = conversation_.messages;
  const std::vector<ChatMessage> before = messages;
  while (!messages.empty() && messages.back().role == "assistant") messages.pop_back();
  require(messages.size() < before.size(), "there is no answer yet");
  ++conversation_.options.generate.seed;
  try {
    answer();
  } catch (...) {
    messages = before;
    throw;
  }
}

void ChatLoop::undo(const std::string&) {
  std::vector<ChatMessage>& messages = conversation_.messages;
  const auto last = std::find_if(messages.rbegin(), messages.rend(),
                                 [](const ChatMessage& one) { return one.role == "user"; });
  require(last != messages.rend(), "there is no message yet");
  messages.erase(last.base() - 1, messages.end());
}

void ChatLoop::clear(const std::string&) {
  std::erase_if(conversation_.messages, [](const ChatMessage& one) { return !is_system(one); });
}

void ChatLoop::save(const std::string& file) {
  write_file_atomically(file, write_chat_messages(conversation_.messages, 2) + '\n');
}

void ChatLoop::load(const std::string& file) {
  conversation_.messages = read_chat_messages(read_file(file), file);
}

void ChatLoop::show_statistics(const std::string&) {
  const AnswerStatistics& s = conversation_.statistics();
  const double after_first = s.seconds - s.first_token_seconds;
  const auto line = [](std::string_view name, const std::string& value) {
    std::cout << fmt::format("{:<24}{}\n", name, value);
  };
  line("messages", fmt::format("{}", conversation_.messages.size()));
  line("context",
       fmt::format("{} of {} tokens", s.prompt_tokens + s.tokens, conversation_.context()));
  line("prompt",
       fmt::format("{} tokens, {} of them new", s.prompt_tokens, s.computed_prompt_tokens));
  line("answer", fmt::format("{} tokens", s.tokens));
  line("first token after", fmt::format("{:.2f} s", s.first_token_seconds));
  if (s.tokens > 1)
    line("tokens per second",
         fmt::format("{:.1f}", static_cast<double>(s.tokens - 1) / after_first));
}

void ChatLoop::set(const std::string& assignment) {
  if (assignment.empty())
    std::cout << settings_text(conversation_.options);
  else
    apply_setting(conversation_.options, assignment);
}

/// Calls are answered in their order; the model goes on when all are.
void ChatLoop::return_result(const std::string& result) {
  std::vector<ChatMessage>& messages = conversation_.messages;
  size_t answered = 0;
  auto asked = messages.rbegin();
  while (asked != messages.rend() && asked->role == "tool") {
    ++answered;
    ++asked;
  }
  require(asked != messages.rend() && answered < asked->tool_calls.size(),
          "no call of a tool waits for a result");
  const ToolCall call = asked->tool_calls[answered];
  const bool last = answered + 1 == asked->tool_calls.size();
  ChatMessage message{.role = "tool", .content = result};
  message.tool_call_id = call.id;
  message.name = call.name;
  if (last)
    ask(std::move(message));
  else
    messages.push_back(std::move(message));
}

void ChatLoop::quit(const std::string&) { done_ = true; }

}  // namespace heed::cli
