#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cctype>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/serve/fields/json_fields.h"

namespace heed::serve {

/// An answer as a client reads it.
struct Answer {
  int status = 0;
  std::map<std::string, std::string> headers = {};  // names in lower case
  std::string body = {};                            // chunks are joined

  Json json() const { return Json::parse(body); }
};

/// One of the server-sent events of a body.
struct Event {
  std::string name, data;  // no name: empty
};

/// The events of a body, each of which ends with an empty line.
inline std::vector<Event> events_of(std::string_view body) {
  std::vector<Event> events;
  Event event;
  while (!body.empty()) {
    const size_t end = std::min(body.find('\n'), body.size() - 1);
    const std::string_view line = body.substr(0, end);
    body.remove_prefix(end + 1);
    if (line.empty()) events.push_back(std::exchange(event, {}));
    if (line.starts_with("event: ")) event.name = line.substr(7);
    if (line.starts_with("data: ")) event.data += line.substr(6);
  }
  return events;
}

/// A connection to a server on this machine. Functions wait, at most ten seconds, and throw
/// std::runtime_error when the server does not answer as HTTP has it.
class HttpClient {
 public:
  explicit HttpClient(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval limit{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("cannot connect");
  }
  ~HttpClient() { ::close(socket_); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) throw std::runtime_error("the server does not read");
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }

  /// The next answer. That to HEAD has no body, whatever its headers say.
  Answer read(bool head = false) {
    Answer answer;
    const std::string status = line();
    if (!status.starts_with("HTTP/1.")) throw std::runtime_error("not HTTP: " + status);
    answer.status = std::stoi(status.substr(9));
    for (std::string header = line(); !header.empty(); header = line()) {
      const size_t colon = header.find(": ");
      std::string name = header.substr(0, colon);
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      answer.headers[name] = header.substr(colon + 2);
    }
    if (head) return answer;
    if (answer.headers["transfer-encoding"] == "chunked") {
      while (const size_t size = std::stoul(line(), nullptr, 16)) {
        answer.body += take(size);
        line();
      }
      line();
    } else if (const std::string& length = answer.headers["content-length"]; !length.empty()) {
      answer.body = take(std::stoul(length));
    }
    return answer;
  }

  using Headers = std::vector<std::pair<std::string, std::string>>;
  Answer request(const std::string& method, const std::string& path, std::string_view body = {},
                 const Headers& headers = {}) {
    std::string text = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n";
    for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    send(text += body);
    return read(method == "HEAD");
  }

 private:
  void receive() {
    char bytes[16384];
    const ssize_t size = ::recv(socket_, bytes, sizeof bytes, 0);
    if (size <= 0) throw std::runtime_error("the server closed or did not answer in time");
    buffer_.append(bytes, static_cast<size_t>(size));
  }
  std::string take(size_t size) {
    while (buffer_.size() < size) receive();
    std::string bytes = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return bytes;
  }
  std::string line() {
    size_t end = 0;
    while ((end = buffer_.find("\r\n")) == buffer_.npos) receive();
    std::string line = take(end);
    take(2);
    return line;
  }

  const int socket_;
  std::string buffer_;
};

}  // namespace heed::serve
