#include "heed/serve/api_error.h"

#include <fmt/format.h>

#include <new>
#include <nlohmann/json.hpp>

#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/tensor/device_error.h"

namespace heed::serve {
namespace {

constexpr const char* kInvalid = "invalid_request_error";
constexpr const char* kServer = "server_error";

ApiError too_long(std::string param, const std::string& message) {
  ApiError error = invalid_request(std::move(param), message);
  error.code = "context_length_exceeded";
  return error;
}

}  // namespace

ApiError invalid_request(std::string param, const std::string& message) {
  ApiError error(400, kInvalid, message);
  error.param = std::move(param);
  return error;
}

ApiError context_length_exceeded(std::string param, int64_t tokens, int64_t limit, bool more) {
  return too_long(
      std::move(param),
      fmt::format("the input has {}{} tokens, and the model's context holds {}, with the output",
                  more ? "more than " : "", tokens, limit));
}

ApiError input_too_long(std::string param, int64_t tokens, int64_t limit) {
  return too_long(
      std::move(param),
      fmt::format("the input has {} tokens, and the model reads at most {}", tokens, limit));
}

ApiError unknown_model(const std::string& name) {
  ApiError error(404, kInvalid,
                 fmt::format("there is no model {}; GET /v1/models lists them", quoted(name)));
  error.code = "model_not_found";
  error.param = "model";
  return error;
}

ApiError overloaded(const std::string& message, int retry_after) {
  ApiError error(429, "rate_limit_error", message);
  error.code = "server_overloaded";
  error.headers = {{"Retry-After", std::to_string(retry_after)}};
  return error;
}

ApiError unavailable(const std::string& message, int retry_after) {
  ApiError error(503, kServer, message);
  error.code = "unavailable";
  error.headers = {{"Retry-After", std::to_string(retry_after)}};
  return error;
}

ApiError deadline_exceeded() {
  ApiError error(504, kServer, "the request did not end before its deadline");
  error.code = "deadline_exceeded";
  return error;
}

ApiError internal_error(const std::string& message) { return {500, kServer, message}; }

std::string error_body(const ApiError& error) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
  };
  const nlohmann::ordered_json body = {{"error",
                                        {{"message", error.what()},
                                         {"type", error.type},
                                         {"param", or_null(error.param)},
                                         {"code", or_null(error.code)}}}};
  return dump_json(body, {.replace_invalid = true});
}

std::string plain_error_body(const ApiError& error) {
  return dump_json(nlohmann::json{{"error", error.what()}}, {.replace_invalid = true});
}

std::string detail_error_body(const ApiError& error) {
  return dump_json(nlohmann::json{{"detail", error.what()}}, {.replace_invalid = true});
}

std::string cohere_error_body(const ApiError& error) {
  return dump_json(nlohmann::json{{"message", error.what()}}, {.replace_invalid = true});
}

std::string tei_error_body(const ApiError& error) {
  const char* const type = error.status == 429   ? "Overloaded"
                           : error.status == 503 ? "Unhealthy"
                           : error.status < 500  ? "Validation"
                                                 : "Backend";
  return dump_json(nlohmann::json{{"error", error.what()}, {"error_type", type}},
                   {.replace_invalid = true});
}

HttpResponse response_of(const ApiError& error, ErrorBody body) {
  return {.status = error.status, .body = body(error), .headers = error.headers};
}

ApiError current_error() {
  try {
    throw;
  } catch (const ApiError& error) {
    return error;
  } catch (const InputError& error) {
    return invalid_request("", error.what());
  } catch (const std::bad_alloc&) {
    return unavailable("out of memory", 10);
  } catch (const DeviceMemoryError& error) {
    return unavailable(error.what(), 10);
  } catch (const DeviceLostError& error) {
    return unavailable(error.what(), 30);
  } catch (const std::exception& error) {
    return internal_error(error.what());
  }
}

}  // namespace heed::serve
