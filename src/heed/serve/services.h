#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "heed/serve/admission.h"
#include "heed/serve/call.h"
#include "heed/serve/fields/json_fields.h"
#include "heed/serve/http/http_server.h"
#include "heed/serve/model_registry.h"
#include "heed/serve/operations/history.h"
#include "heed/serve/operations/metrics.h"
#include "heed/serve/translation/translated_files.h"
#include "heed/server.h"

namespace heed::serve {

/// The parts of a server that routes use.
struct Services {
  ModelRegistry& models;
  Admission& admission;
  Metrics& metrics;
  const ServerOptions& options;
  const HttpServer& http;
  const History& history;
  TranslatedFiles& translated_files;
  /// Whether requests are accepted: false while models are loaded and while the server drains.
  std::function<bool()> ready;
};

/// The fields of the body of a call, which must outlive them. What is ignored of them is named in
/// the response and in the log.
JsonFields fields_of(const Services& services, Call& call, const Json& body);

/// Responds at once, on the network thread, without a model.
using DirectHandler = void (*)(Services& services, Call& call);
/// A call of a route that uses a model.
struct ModelCall {
  Services& services;
  std::shared_ptr<Call> call;
  ModelRegistry::Target target;
  const Json& body;

  const Model& model() const { return target.model->model(); }
  JsonFields fields() const { return fields_of(services, *call, body); }
  /// Lets the call wait with so many tokens of input. Then `compute` returns, on the compute
  /// thread, the JSON to respond with.
  void respond_with(int64_t tokens, std::function<Json(const Model&)> compute) const {
    call->enqueue(services.admission, tokens);
    target.model->run(call, tokens, [call = call, served = target.model, compute] {
      call->respond_json(compute(served->model()));
    });
  }
};
/// Reads the fields of the body and gives the work to the model, which responds later. An exception
/// becomes the response.
using ModelHandler = void (*)(const ModelCall& call);
/// The name of the model for a body, whose "model" is `named`; empty: the only model there is.
/// Throws ApiError if there is none.
using ModelChooser = std::string (*)(const Services& services, const Json& body, std::string named);

/// A method, a path and its handler: one of the two is set.
struct Route {
  const char* method;
  const char* path;
  DirectHandler without_model = nullptr;
  ModelHandler with_model = nullptr;
  bool needs_no_key = false;          // needs no API key
  bool manages = false;               // needs a key that may manage models
  ModelChooser choose = nullptr;      // otherwise, the model that the body names
  ErrorBody error_body = nullptr;     // otherwise, OpenAI's
  const char* error_event = nullptr;  // Call::error_event
  bool key_in_body = false;           // "api_key" of the body may be the API key
};

}  // namespace heed::serve
