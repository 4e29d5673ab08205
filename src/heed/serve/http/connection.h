#pragma once

#include <utility>  // boost/asio/awaitable.hpp of Boost 1.74 forgets it

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <memory>
#include <optional>
#include <string>

#include "heed/serve/http/http_server.h"

namespace heed::serve {

/// A client's connection. Reads and answers one request after the other. All functions are called
/// on the network thread.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  /// `options` must outlive this. Requests get the ids `prefix` and a number.
  Connection(boost::asio::ip::tcp::socket socket, const HttpServerOptions& options,
             std::string id_prefix);

  /// Serves requests until the client disconnects, sends what is not HTTP, or close() is called.
  boost::asio::awaitable<void> run();
  /// Ends run() after the response that is being written, or the first one; at once if the
  /// connection waits for a further request.
  void close_when_idle();
  void close();

 private:
  struct Head;
  using Message = boost::beast::http::request<boost::beast::http::string_body>;
  template <typename T>
  using Task = boost::asio::awaitable<T>;

  Task<bool> read_first_bytes();
  Task<std::optional<Head>> read_request();
  HttpRequest request_of(const Message& message);
  Task<void> refuse(int status, std::string message, HttpRequest request);
  Task<void> handle(Head head);
  Task<bool> write_response(bool http_1_0);
  Task<void> watch_for_disconnect(std::shared_ptr<HttpTransaction> transaction);
  Task<bool> write(std::string_view bytes);
  Task<void> linger();
  std::function<void()> waker();

  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;
  const HttpServerOptions& options_;
  const std::string id_prefix_;
  int64_t requests_ = 0;
  std::string client_;
  boost::asio::steady_timer changed_;  // cancelled to wake the coroutines
  std::shared_ptr<std::atomic<bool>> wake_posted_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<HttpTransaction> transaction_;  // that is being answered
  bool idle_ = false, has_responded_ = false, watching_ = false, close_after_response_ = false,
       keep_alive_ = true;
};

}  // namespace heed::serve
