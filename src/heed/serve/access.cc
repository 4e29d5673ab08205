#include "heed/serve/access.h"

#include <algorithm>
#include <cmath>

#include "heed/base/ascii.h"
#include "heed/serve/api_error.h"

namespace heed::serve {
namespace {

/// Headers of requests that pages may send without being asked for them by name.
constexpr std::string_view kUsualHeaders =
    "Authorization, Content-Type, X-Api-Key, X-Request-Id, X-Request-Timeout";
/// Bytes of a list of headers that is repeated to the client.
constexpr size_t kMaxHeaderList = 4096;

/// Compares every byte of the given text, however early they differ.
bool equal_in_constant_time(std::string_view given, std::string_view key) {
  unsigned difference = given.size() == key.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned char>(given[i]) ^
                  static_cast<unsigned char>(key.empty() ? 0 : key[i % key.size()]);
  return difference == 0;
}

/// What follows the scheme, which is written in any case; empty if it is another one.
std::string_view bearer_token(std::string_view header) {
  constexpr std::string_view kScheme = "bearer ";
  if (lower_case(header.substr(0, kScheme.size())) != kScheme) return {};
  header.remove_prefix(kScheme.size());
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

/// Whether it is a list of names of headers, which may stand in a header of the response.
bool is_header_list(std::string_view list) {
  return !list.empty() && list.size() <= kMaxHeaderList && std::ranges::all_of(list, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("!#$%&'*+-.^_`|~, ").find(c) != std::string_view::npos;
  });
}

ApiError missing_key() {
  ApiError error(401, "authentication_error",
                 "the request needs a valid API key: Authorization: Bearer KEY, or x-api-key: KEY");
  error.code = "invalid_api_key";
  error.headers = {{"WWW-Authenticate", "Bearer"}};
  return error;
}

ApiError not_allowed() {
  ApiError error(403, "permission_error",
                 "models are managed with an API key that may: manage = true in its [[key]] of "
                 "serve.toml");
  error.code = "not_allowed";
  return error;
}

}  // namespace

Access::Access(const ServerOptions& options)
    : keys_(options.named_keys), origins_(options.cors_origins) {
  for (const std::string& key : options.api_keys) keys_.push_back({.name = {}, .key = key});
  for (const ApiKey& key : keys_)
    allowances_.push_back({static_cast<double>(key.requests_per_minute), Clock::now()});
}

const ApiKey* Access::check_key(const HttpRequest& request, const Route& route) const {
  if (keys_.empty() && route.manages) throw not_allowed();
  if (keys_.empty() || route.needs_no_key) return nullptr;
  const std::string_view given = bearer_token(request.header("authorization"));
  const std::string_view other = request.header("x-api-key");
  const ApiKey* found = nullptr;
  for (const ApiKey& key : keys_) {  // all of them, however early one is found
    const bool equal =
        equal_in_constant_time(given, key.key) | equal_in_constant_time(other, key.key);
    if (equal) found = &key;
  }
  if (!found) throw missing_key();
  if (route.manages && !found->manage) throw not_allowed();
  return found;
}

void Access::count_request(const ApiKey& key, Clock::time_point now) {
  if (key.requests_per_minute == 0) return;
  const auto most = static_cast<double>(key.requests_per_minute);
  const double per_second = most / 60;
  const MutexLock lock(mutex_);
  Allowance& allowance = allowances_[static_cast<size_t>(&key - keys_.data())];
  const double passed = std::chrono::duration<double>(now - allowance.at).count();
  allowance = {std::min(most, allowance.requests + passed * per_second), now};
  if (allowance.requests < 1) {
    const double wait = (1 - allowance.requests) / per_second;
    ApiError error = overloaded("the key has sent as many requests as it may in a minute",
                                static_cast<int>(std::ceil(wait)));
    error.code = "rate_limit_exceeded";
    throw error;
  }
  allowance.requests -= 1;
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
          {"Access-Control-Expose-Headers",
           "Retry-After, X-Request-Id, X-Heed-Ignored, traceparent, WWW-Authenticate"},
          {"Vary", "Origin"}};
}

bool Access::is_preflight(const HttpRequest& request) const {
  return request.method == "OPTIONS" && allows(request.header("origin")) &&
         !request.header("access-control-request-method").empty();
}

HttpResponse Access::preflight(const HttpRequest& request) {
  const std::string_view wanted = request.header("access-control-request-headers");
  return {.status = 204,
          .content_type = "",
          .body = "",
          .headers = {{"Access-Control-Allow-Methods", "GET, POST"},
                      {"Access-Control-Allow-Headers",
                       std::string(is_header_list(wanted) ? wanted : kUsualHeaders)},
                      {"Access-Control-Max-Age", "86400"},
                      {"Vary", "Access-Control-Request-Headers"}}};
}

}  // namespace heed::serve
