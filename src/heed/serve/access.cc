#include "heed/serve/access.h"

#include <algorithm>

#include "heed/serve/api_error.h"

namespace heed::serve {
namespace {

/// Compares every byte of the given text, however early they differ.
bool equal_in_constant_time(std::string_view given, std::string_view key) {
  unsigned difference = given.size() == key.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned char>(given[i]) ^
                  static_cast<unsigned char>(key.empty() ? 0 : key[i % key.size()]);
  return difference == 0;
}

}  // namespace

void Access::check_key(const HttpRequest& request, const Route& route) const {
  if (keys_.empty() || route.needs_no_key) return;
  std::string_view given = request.header("authorization");
  constexpr std::string_view kScheme = "Bearer ";
  bool known = false;
  if (given.starts_with(kScheme)) {
    given.remove_prefix(kScheme.size());
    for (const std::string& key : keys_) known |= equal_in_constant_time(given, key);
  }
  if (known) return;
  ApiError error(401, "authentication_error",
                 "the request needs a valid API key: Authorization: Bearer KEY");
  error.code = "invalid_api_key";
  throw error;
}

bool Access::allows(std::string_view origin) const {
  return std::ranges::any_of(origins_,
                             [&](const std::string& one) { return one == "*" || one == origin; });
}

std::vector<std::pair<std::string, std::string>> Access::cors_headers(
    const HttpRequest& request) const {
  const std::string origin(request.header("origin"));
  if (origin.empty() || !allows(origin)) return {};
  return {{"Access-Control-Allow-Origin", origin},
          {"Access-Control-Expose-Headers", "X-Request-Id"},
          {"Vary", "Origin"}};
}

bool Access::is_preflight(const HttpRequest& request) const {
  return request.method == "OPTIONS" && allows(request.header("origin")) &&
         !request.header("access-control-request-method").empty();
}

HttpResponse Access::preflight() const {
  return {.status = 204,
          .content_type = "",
          .body = "",
          .headers = {{"Access-Control-Allow-Methods", "GET, POST"},
                      {"Access-Control-Allow-Headers",
                       "Authorization, Content-Type, X-Request-Id, X-Request-Timeout"},
                      {"Access-Control-Max-Age", "86400"}}};
}

}  // namespace heed::serve
