#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "heed/serve/admission.h"
#include "heed/serve/call.h"
#include "heed/serve/json_fields.h"
#include "heed/serve/metrics.h"
#include "heed/serve/model_registry.h"

namespace heed::serve {

/// What routes work with.
struct Services {
  ModelRegistry& models;
  Admission& admission;
  Metrics& metrics;
  /// Whether requests are accepted: false while models are loaded and while the server drains.
  std::function<bool()> ready;
};

/// A route that needs no model: it answers at once, on the network thread.
using PageHandler = void (*)(Services& services, Call& call);
/// A route that works with a model: it reads its fields and gives the work to the model, which
/// answers later. What it throws answers the call.
struct ModelCall {
  Services& services;
  std::shared_ptr<Call> call;
  ModelRegistry::Target target;
  const Json& body;
};
using ModelHandler = void (*)(const ModelCall& call);
/// The name of the model for a body that names none. Throws ApiError if there is none.
using ModelChoice = std::string (*)(const Services& services, const Json& body);

/// What a server answers to. One of the two handlers is set.
struct Route {
  const char* method;
  const char* path;
  PageHandler page = nullptr;
  ModelHandler model = nullptr;
  bool open = false;               // needs no API key
  ModelChoice choose = nullptr;    // otherwise, the only model there is
  ErrorBody error_body = nullptr;  // otherwise, OpenAI's
};

}  // namespace heed::serve
