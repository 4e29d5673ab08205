#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>

#include "call.h"
#include "heed/serve/server_options.h"
#include "model.h"
#include "options.h"

// The server of `heed serve` in a Python process.
namespace heed::python {
namespace {

using std::chrono::milliseconds;

ModelSource source_from(nb::handle value, std::string_view name) {
  if (!nb::isinstance<nb::dict>(value)) wrong_type(value, name, "a dict");
  Keywords keywords(nb::borrow<nb::dict>(value));
  ModelSource source;
  serve::ModelSourceOption::for_each([&](const auto& option) {
    if (option.name != "path") keywords.read(option.key.data(), source.*option.field);
  });
  source.batching = take_options<serve::BatchingOption>(keywords);
  if (const nb::object model = keywords.take("model")) {
    if (!nb::isinstance<OpenModel>(model)) wrong_type(model, "model", "a heed.Model");
    source.model = nb::cast<const OpenModel&>(model).get();
  } else {
    source.load = take_load_options(keywords);
    if (const nb::object path = keywords.take("path"))
      source.path = path_from(path, "path").string();
  }
  keywords.finish("serve");
  return source;
}

/// Models that are loaded by the server compute on `executor`, unless they have their own.
std::vector<ModelSource> sources_from(nb::handle models,
                                      const std::shared_ptr<Executor>& executor) {
  std::vector<ModelSource> sources = list_from(models, "models", source_from);
  for (ModelSource& source : sources)
    if (!source.load.executor) source.load.executor = executor;
  return sources;
}

/// Calls a Python function, which must not raise, on the server's network thread.
std::function<void(const std::string&)> log_to(nb::object function) {
  if (function.is_none()) return {};
  return [held = held_without_gil(std::move(function))](const std::string& line) {
    const nb::gil_scoped_acquire acquire;
    try {
      (*held)(nb::str(line.data(), line.size()));
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("the log of a server");
    }
  };
}

ServerOptions server_options_from(Keywords& keywords) {
  auto options = take_options<serve::ServerOption>(keywords);
  options.queue = take_options<serve::QueueLimit>(keywords);
  options.http = take_options<serve::HttpLimit>(keywords);
  return options;
}

/// A server that listens. heed.Server sees to it that one thread at a time uses it.
class OpenServer {
 public:
  OpenServer(nb::handle models, const Options& options, nb::object log) {
    Keywords keywords(options);
    executor_ = take_executor(keywords);
    ServerOptions server_options = server_options_from(keywords);
    keywords.finish("serve");
    server_options.models = sources_from(models, executor_);
    server_options.log = log_to(std::move(log));
    server_.reset(new Server(std::move(server_options)));
    run([&] {
      server_->listen();
      server_->load();
    });
    port_ = server_->port();
  }

  int port() const { return port_; }

  void reload(nb::handle models) {
    if (!server_) throw Error("the server has stopped");
    const std::vector<ModelSource> sources = sources_from(models, executor_);
    run([&] { server_->reload(sources); });
  }

  /// Answers what is being answered, for at most so many seconds, and ends. Returns whether all was
  /// answered.
  bool stop(double drain_seconds) {
    const Handle server = std::move(server_);  // ends when this function does, however that ends
    const milliseconds time(static_cast<int64_t>(std::clamp(drain_seconds, 0.0, 1e7) * 1000));
    return !server || run([&] { return server->drain(time); });
  }

  /// In a forked child, where it does not run.
  void forget() { server_.reset(); }

 private:
  /// Its threads may wait for the GIL.
  struct EndWithoutGil {
    void operator()(Server* server) const {
      const nb::gil_scoped_release release;
      delete server;
    }
  };
  using Handle = std::unique_ptr<Server, EndWithoutGil>;

  std::shared_ptr<Executor> executor_;  // null: the one that all share
  Handle server_;
  int port_ = 0;
};

}  // namespace

void bind_server(nb::module_& m) {
  nb::class_<OpenServer>(m, "Server")
      .def(nb::init<nb::handle, const Options&, nb::object>(), nb::arg("models"),
           nb::arg("options"), nb::arg("log").none())
      .def_prop_ro("port", &OpenServer::port)
      .def("reload", &OpenServer::reload, nb::arg("models"))
      .def("stop", &OpenServer::stop, nb::arg("drain_seconds"))
      .def("forget", &OpenServer::forget);
}

}  // namespace heed::python
