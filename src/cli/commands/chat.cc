#include <cstdlib>
#include <filesystem>
#include <memory>

#include "cli/chat/chat_loop.h"
#include "cli/options/chat_options.h"
#include "cli/options/command.h"
#include "cli/options/declared_options.h"
#include "cli/options/model_options.h"
#include "cli/options/sampling_options.h"
#include "heed/base/error.h"
#include "heed/engine/engine_options.h"

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

struct ChatCommandArguments {
  CommonOptions common;
  ModelOptions model;
  SamplingArguments sampling;
  ChatArguments chat;
  ConversationOptions conversation;
  std::string system;
  std::optional<std::string> history;
};

/// The file of the history among those of other programs (XDG base directories).
fs::path standard_history() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  fs::path state = variable("XDG_STATE_HOME");
  if (state.empty()) {
    const fs::path home = variable("HOME");
    if (home.empty()) return {};
    state = home / ".local" / "state";
  }
  std::error_code ignored;
  fs::create_directories(state / "heed", ignored);
  return state / "heed" / "chat_history";
}

int run_chat(const ChatCommandArguments& arguments) {
  const Threads threads(arguments.common);
  ConversationOptions options = arguments.conversation;
  options.generate = arguments.sampling.options(arguments.common.seed);
  options.chat = arguments.chat.options();
  const Model model = load_model(arguments.model, threads, &ModelTasks::generate);
  require(!model.has_encoder(), "{} is not a decoder-only model", arguments.model.path);
  prepare_output(model, options.generate);
  if (options.chat.chat_template.empty()) model.require_chat_template();
  LineEditor editor(arguments.history ? fs::path(*arguments.history) : standard_history());
  return ChatLoop(model, options, arguments.system, editor).run();
}

}  // namespace

void add_chat(Command& program) {
  Command command =
      program.add_subcommand("chat", "Talks to a model: a conversation in the terminal");
  auto arguments = std::make_shared<ChatCommandArguments>();
  add_model_options(command, arguments->model);
  command.add_option("--system", arguments->system, "System message");
  add_max_new_tokens(command, arguments->sampling,
                     "from generation_config.json, else what is left of the context");
  add_declared_option(command, engine::ConversationOption::context, arguments->conversation);
  add_declared_option(command, engine::ConversationOption::when_full, arguments->conversation)
      .show_default("stop");
  add_sampling_options(command, arguments->sampling);
  add_seed_option(command, arguments->common);
  add_structured_output_options(command, arguments->sampling);
  add_chat_options(command, arguments->chat);
  add_cache_option(command, arguments->model);
  add_speculation_options(command, arguments->model);
  command.add_option("--history", arguments->history,
                     "File for the lines that were typed; '' keeps none (default: "
                     "~/.local/state/heed/chat_history)");
  add_threads_option(command, arguments->common);
  command.footer(
      "Examples:\n"
      "  heed chat HuggingFaceTB/SmolLM2-135M-Instruct\n"
      "  heed chat model.gguf --system 'Answer in French.' --temperature 0.7\n"
      "In the conversation, /help shows the commands.");
  command.set_action([arguments] { return run_chat(*arguments); });
}

}  // namespace heed::cli
