#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <thread>

#include "cli/command.h"
#include "cli/signals.h"
#include "heed/base/error.h"
#include "heed/serve/server.h"

namespace heed::cli {
namespace {

struct ServeArguments {
  CommonOptions common;
  std::vector<std::string> models;
  serve::ServerOptions server;
  double drain_seconds = 30;
};

/// NAME=PATH, or a path whose last part is the name.
serve::ModelSource parse_model(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals != text.npos) return {.name = text.substr(0, equals), .path = text.substr(equals + 1)};
  return {.name = std::filesystem::path(text).filename().string(), .path = text};
}

int run_serve(ServeArguments& arguments) {
  const Threads threads(arguments.common);
  serve::ServerOptions options = arguments.server;
  for (const std::string& text : arguments.models) {
    serve::ModelSource source = parse_model(text);
    source.load.executor = threads.executor();
    options.models.push_back(std::move(source));
  }
  options.log = [](const std::string& line) { std::cout << line << std::endl; };
  const StopRequest stop;
  serve::Server server(std::move(options));
  server.load();
  std::fprintf(stderr, "heed: serving on http://%s:%d\n", arguments.server.host.c_str(),
               server.port());
  while (!stop.requested()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto time = std::chrono::milliseconds(static_cast<int64_t>(arguments.drain_seconds * 1000));
  std::fprintf(stderr, "heed: ending the requests that are being answered\n");
  server.drain(time);
  return 0;
}

}  // namespace

void add_serve(Command& program) {
  Command command = program.add_subcommand(
      "serve", "Serves models over HTTP: OpenAI's API, translation, embeddings, attention");
  auto arguments = std::make_shared<ServeArguments>();
  command.add_option("--model", arguments->models, "NAME=MODEL").required();
  command.add_option("--host", arguments->server.host, "Address to listen on").show_default();
  command.add_option("--port", arguments->server.port, "Port to listen on; 0: any that is free")
      .show_default();
  add_common_options(command, arguments->common);
  command.footer("Example:\n  heed serve --model smollm2=SmolLM2-135M-Instruct");
  command.set_action([arguments] { return run_serve(*arguments); });
}

}  // namespace heed::cli
