#include <fmt/format.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include "cli/commands/service_manager.h"
#include "cli/commands/watchdog.h"
#include "cli/find_model.h"
#include "cli/options/command.h"
#include "cli/options/declared_options.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/warnings.h"
#include "heed/base/error.h"
#include "heed/serve/server_options.h"
#include "heed/server_config.h"

namespace heed::cli {
namespace {

using serve::ServerOption;

struct ServeArguments {
  CommonOptions common;
  std::vector<std::string> models, cors_origins;
  std::optional<std::string> config, host, api_key_file, model_memory;
  std::optional<int64_t> port;
  std::optional<uint64_t> seed;
  bool dry_run = false, quiet = false, log_texts = false;
};

/// The configuration file, and what the command line says instead of it or beside it.
ServerConfig read_configuration(const ServeArguments& arguments) {
  ServerConfig config;
  ServerOptions& server = config.server;
  if (arguments.config) read_server_config(*arguments.config, config);
  for (const std::string& text : arguments.models)
    server.models.push_back(parse_model_source(text));
  require(!server.models.empty(), "there is no model to serve: name one with --model");
  if (arguments.host) server.host = *arguments.host;
  if (arguments.port) server.port = static_cast<int>(*arguments.port);
  if (arguments.api_key_file) server.api_keys = read_api_keys(*arguments.api_key_file);
  if (arguments.model_memory) server.memory_limit = parse_bytes(*arguments.model_memory);
  if (!arguments.cors_origins.empty()) server.cors_origins = arguments.cors_origins;
  if (arguments.log_texts) server.log_texts = true;
  if (arguments.seed) server.seed = arguments.seed;
  if (arguments.common.threads != 0) config.threads = arguments.common.threads;
  return config;
}

/// Downloads what is to be loaded at the start, visibly, and sets the threads.
void prepare(std::vector<ModelSource>& models, const Threads& threads) {
  for (ModelSource& model : models) {
    if (!model.on_first_use) model.path = find_model(model.path);
    model.load.executor = threads.executor();
  }
}

/// Reads the configuration again. What is wrong with it is said, and nothing changes.
void reload(const ServeArguments& arguments, Server& server, const Threads& threads) {
  notify_service_manager("RELOADING=1");
  try {
    std::vector<ModelSource> models = read_configuration(arguments).server.models;
    prepare(models, threads);
    server.reload(models);
    print_message(fmt::format("serving {} models", models.size()));
  } catch (const Error& error) {
    print_message(fmt::format("the configuration was not reloaded: {}", error.what()));
  }
  notify_service_manager("READY=1");
}

int run_serve(const ServeArguments& arguments) {
#if defined(__GLIBC__)
  // Bodies and prompts of some megabytes go back to the system at once: glibc would keep them.
  mallopt(M_MMAP_THRESHOLD, 1 << 18);
  mallopt(M_TRIM_THRESHOLD, 1 << 22);
#endif
  ServerConfig config = read_configuration(arguments);
  const Threads threads({.threads = config.threads});
  if (arguments.dry_run) {  // also what would be loaded later
    config.server.memory_limit = 0;
    for (ModelSource& model : config.server.models) model.on_first_use = false;
  }
  prepare(config.server.models, threads);
  if (!arguments.quiet)
    config.server.log = [](const std::string& line) { std::cout << line << std::endl; };
  config.server.warn = [](const std::string& warning) { print_message("warning: " + warning); };
  const StopRequest stop;
  const ReloadRequest reload_request;
  const std::string host = config.server.host;
  const size_t count = config.server.models.size();
  const std::string models = count == 1 ? "1 model" : fmt::format("{} models", count);
  Server server(std::move(config.server));
  if (!arguments.dry_run) server.listen();
  server.load();
  if (arguments.dry_run) {
    print_message(fmt::format("the configuration is valid, and {} can be loaded", models));
    return 0;
  }
  print_message(fmt::format("serving {} on http://{}:{}", models,
                            host.find(':') == host.npos ? host : '[' + host + ']', server.port()));
  notify_service_manager("READY=1");
  const Watchdog watchdog([&server] { return server.busy_for(); });
  while (!stop.requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (reload_request.take()) reload(arguments, server, threads);
  }
  notify_service_manager("STOPPING=1");
  print_message("answering the last requests");
  if (!server.drain(config.drain_time)) print_message("some requests did not end in time");
  return 0;
}

}  // namespace

void add_serve(Command& program) {
  Command command = program.add_subcommand(
      "serve", "Serves models over HTTP: OpenAI's API, translation, embeddings, attention, a page");
  auto arguments = std::make_shared<ServeArguments>();
  command.add_option("--model", arguments->models,
                     "NAME=MODEL: a name for requests, and a model directory, a GGUF file or "
                     "OWNER/NAME[@REVISION][:FILE.gguf] of the Hugging Face hub (repeatable)");
  command.add_option("--config", arguments->config,
                     "Configuration (serve.toml): models with their adapters and types, limits. "
                     "Options of the command line come before it");
  const ServerOptions standard;
  add_declared_value(command, ServerOption::host, arguments->host).show_default(standard.host);
  add_declared_value(command, ServerOption::port, arguments->port)
      .show_default(fmt::format("{}", standard.port));
  add_declared_value(command, ServerOption::api_keys, arguments->api_key_file, "--api-key-file");
  add_declared_value(command, ServerOption::cors_origins, arguments->cors_origins, "--cors-origin");
  add_declared_value(command, ServerOption::memory_limit, arguments->model_memory);
  add_declared_value(command, ServerOption::log_texts, arguments->log_texts);
  add_declared_value(command, ServerOption::seed, arguments->seed);
  command.add_flag("--quiet", arguments->quiet, "Log no requests");
  command.add_flag("--dry-run", arguments->dry_run,
                   "Check the configuration, load the models, and end");
  add_threads_option(command, arguments->common);
  command.footer(
      "Examples:\n"
      "  heed serve --model smollm2=SmolLM2-135M-Instruct\n"
      "  heed serve --model chat=model.gguf --model en-de=opus-mt-en-de --port 9000\n"
      "  heed serve --config serve.toml\n"
      "SIGTERM ends it after the requests that are being answered; SIGHUP reads the models of the "
      "configuration again.");
  command.set_action([arguments] { return run_serve(*arguments); });
}

}  // namespace heed::cli
