#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/serve/http/message.h"

namespace heed::serve {

/// An error response, with the fields of OpenAI's API.
struct ApiError : std::runtime_error {
  ApiError(int http_status, std::string error_type, const std::string& message)
      : std::runtime_error(message), status(http_status), type(std::move(error_type)) {}

  int status;
  std::string type;        // "invalid_request_error", ...
  std::string code = {};   // "context_length_exceeded", ...; empty: null
  std::string param = {};  // the field that is wrong; empty: null
  std::vector<std::pair<std::string, std::string>> headers = {};  // of the response
};

/// 400: the field `param` of the request is wrong; an empty one: the request as a whole.
ApiError invalid_request(std::string param, const std::string& message);
/// 400: a prompt of `tokens` tokens, or `more` than that, for a model whose context holds `limit`.
ApiError context_length_exceeded(std::string param, int64_t tokens, int64_t limit,
                                 bool more = false);
/// 400: a text of `tokens` tokens, which is not continued, for a model that reads `limit`.
ApiError input_too_long(std::string param, int64_t tokens, int64_t limit);
/// 404: there is no such model.
ApiError unknown_model(const std::string& name);
/// 429: too much waits already. The client may try again after `retry_after` seconds.
ApiError overloaded(const std::string& message, int retry_after);
/// 503: the request cannot be answered now. The client may try again after `retry_after` seconds.
ApiError unavailable(const std::string& message, int retry_after);
/// 504: the deadline of the request has passed.
ApiError deadline_exceeded();
/// 500: an error that the client cannot correct.
ApiError internal_error(const std::string& message);

/// The error in OpenAI's form: {"error": {"message", "type", "param", "code"}}.
std::string error_body(const ApiError& error);
/// The error in LibreTranslate's form: {"error": message}.
std::string plain_error_body(const ApiError& error);
/// The error in Voyage's form: {"detail": message}.
std::string detail_error_body(const ApiError& error);
/// The error in Cohere's form: {"message": message}.
std::string cohere_error_body(const ApiError& error);
/// The error in the form of TEI (Text Embeddings Inference): {"error": message, "error_type"}.
std::string tei_error_body(const ApiError& error);
/// Writes the body of an error response.
using ErrorBody = std::string (*)(const ApiError& error);
HttpResponse response_of(const ApiError& error, ErrorBody body = error_body);

/// The exception that is being handled, as an ApiError: InputError is 400; std::bad_alloc and a GPU
/// that is full or lost 503; any other exception 500.
ApiError current_error();

}  // namespace heed::serve
