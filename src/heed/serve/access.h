#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heed/serve/http/message.h"
#include "heed/serve/services.h"

namespace heed::serve {

/// Checks who may use the server: API keys, and pages of other origins (CORS).
class Access {
 public:
  Access(std::vector<std::string> api_keys, std::vector<std::string> cors_origins)
      : keys_(std::move(api_keys)), origins_(std::move(cors_origins)) {}

  /// Throws ApiError 401 unless the request has one of the keys, or the route needs none. The time
  /// that this takes does not depend on how much of a key is right.
  void check_key(const HttpRequest& request, const Route& route) const;

  /// Headers that let the page of an allowed origin read the answer.
  std::vector<std::pair<std::string, std::string>> cors_headers(const HttpRequest& request) const;
  /// Whether a browser asks if a page may send a request.
  bool is_preflight(const HttpRequest& request) const;
  HttpResponse preflight() const;

 private:
  bool allows(std::string_view origin) const;

  const std::vector<std::string> keys_, origins_;
};

}  // namespace heed::serve
