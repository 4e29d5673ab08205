#pragma once

#include <optional>
#include <string>

#include "cli/chat/chat_printer.h"
#include "cli/chat/line_editor.h"
#include "cli/terminal/signals.h"
#include "heed/conversation.h"

namespace heed::cli {

/// Lets somebody talk to a model: reads messages and commands, prints answers.
class ChatLoop {
 public:
  /// The editor must outlive this.
  ChatLoop(const Model& model, ConversationOptions options, const std::string& system,
           LineEditor& editor);

  /// Until the end of input or /quit. Returns the program's exit status. Unless somebody types, an
  /// Error ends it.
  int run();

 private:
  struct Command;
  static const std::vector<Command>& commands();

  /// A message of one or more lines: the next line, lines joined by a backslash at their end, or
  /// those between two """.
  std::optional<std::string> read_message();
  void handle(const std::string& line);
  void run_command(const std::string& line);
  void ask(ChatMessage message);
  void answer();
  void report(Conversation::Outcome outcome);

  void help(const std::string& argument);
  void set_system(const std::string& text);
  void regenerate(const std::string& argument);
  void undo(const std::string& argument);
  void clear(const std::string& argument);
  void save(const std::string& file);
  void load(const std::string& file);
  void show_statistics(const std::string& argument);
  void set(const std::string& assignment);
  void return_result(const std::string& result);
  void quit(const std::string& argument);

  LineEditor& editor_;
  ChatPrinter printer_;
  std::optional<StopRequest> stop_;  // while an answer is generated
  Conversation conversation_;
  bool done_ = false;
  int status_ = 0;
};

}  // namespace heed::cli
