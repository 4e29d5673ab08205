#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::serve {

/// A request of HTTP/1.0 or 1.1, with its whole body.
struct HttpRequest {
  std::string id;      // X-Request-Id of the client, else one that the server has made
  std::string method;  // "GET"
  std::string path;    // without the query, percent-decoded
  std::string query;   // what follows "?", as it was sent
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
  std::string client;  // address and port

  /// The value of a header, whose name is in lower case; empty if it is absent.
  std::string_view header(std::string_view name) const {
    for (const auto& [key, value] : headers)
      if (key == name) return value;
    return {};
  }
};

/// A whole response, or the beginning of one with a streamed body.
struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};  // further ones
};

}  // namespace heed::serve
