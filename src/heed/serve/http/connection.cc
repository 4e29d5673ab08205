#include "heed/serve/http/connection.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <ctime>

#include "heed/base/ascii.h"
#include "heed/serve/http/target.h"

namespace heed::serve {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::use_awaitable;
using boost::system::error_code;

/// A request, and what its response depends on.
struct Connection::Head {
  HttpRequest request = {};
  bool http_1_0 = false, keep_alive = true;
};

namespace {

/// Bytes of further requests that are read while one is handled.
constexpr size_t kReadAhead = 65'536;
/// How long a client that connects while the server drains may take to send its request.
constexpr std::chrono::milliseconds kDrainIdleTime(1000);
/// Bytes written to the socket at a time.
constexpr size_t kWriteChunk = 65'536;

/// Whether an X-Request-Id of a client may be repeated in a header and a log.
bool is_valid_request_id(std::string_view id) {
  const auto usable = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  };
  return !id.empty() && id.size() <= 64 && std::ranges::all_of(id, usable);
}

/// The status of the response to a request that cannot be read; 0: no response, because the client
/// has disconnected or was too slow.
int status_of(const error_code& error) {
  if (error == http::error::header_limit) return 431;
  if (error == http::error::body_limit) return 413;
  if (error == http::error::end_of_stream || error == http::error::partial_message) return 0;
  return error.category() == http::make_error_code(http::error::bad_method).category() ? 400 : 0;
}

std::string message_of(int status, const error_code& error, const HttpLimits& limits) {
  switch (status) {
    case 431:
      return fmt::format("the headers have more than {} bytes", limits.header_bytes);
    case 413:
      return fmt::format("the body has more than {} bytes", limits.body_bytes);
    default:
      return fmt::format("the request is not HTTP/1.1: {}", error.message());
  }
}

/// Whether the request line has ended without a version, for which the parser would wait.
bool lacks_version(std::string_view received) {
  const size_t end = received.find("\r\n");
  return end != std::string_view::npos &&
         received.substr(0, end).find(" HTTP/") == std::string_view::npos;
}

std::string header_text(const HttpResponse& response, bool keep_alive, std::string_view framing,
                        std::string_view id) {
  const auto phrase = http::obsolete_reason(http::int_to_status(response.status));
  const std::string_view reason(phrase.data(), phrase.size());
  std::string head = fmt::format(
      "HTTP/1.1 {} {}\r\nServer: heed\r\nDate: {:%a, %d %b %Y %H:%M:%S} GMT\r\nConnection: "
      "{}\r\n{}",
      response.status, reason, fmt::gmtime(std::time(nullptr)), keep_alive ? "keep-alive" : "close",
      framing);
  if (!response.content_type.empty())
    head += fmt::format("Content-Type: {}\r\n", response.content_type);
  if (!id.empty()) head += fmt::format("X-Request-Id: {}\r\n", id);
  for (const auto& [name, value] : response.headers) head += fmt::format("{}: {}\r\n", name, value);
  return head + "\r\n";
}

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, const HttpServerOptions& options,
                       std::string id_prefix)
    : stream_(std::move(socket)),
      options_(options),
      id_prefix_(std::move(id_prefix)),
      changed_(stream_.get_executor()) {
  error_code ignored;
  const auto endpoint = stream_.socket().remote_endpoint(ignored);
  client_ = fmt::format("{}:{}", endpoint.address().to_string(), endpoint.port());
  stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  // What the system holds for a client that does not read counts, too.
  stream_.socket().set_option(asio::socket_base::send_buffer_size(kWriteChunk), ignored);
}

asio::awaitable<void> Connection::run() {
  const auto self = shared_from_this();
  while (keep_alive_ && stream_.socket().is_open()) {
    if (!co_await read_first_bytes()) break;
    std::optional<Head> head = co_await read_request();
    if (!head) break;
    co_await handle(std::move(*head));
  }
  co_await linger();
}

void Connection::close_when_idle() {
  close_after_response_ = true;
  if (idle_) stream_.cancel();  // read_first_bytes() decides
}

void Connection::close() {
  error_code ignored;
  stream_.socket().close(ignored);
  changed_.cancel();
}

/// Waits for a request. Returns false if the client disconnects or the connection is closed. While
/// the server drains, a request that has arrived is read, and a new connection has kDrainIdleTime
/// to send its first one.
Connection::Task<bool> Connection::read_first_bytes() {
  if (buffer_.size() > 0) co_return true;
  error_code error;
  do {
    error_code ignored;
    if (close_after_response_ && has_responded_ && stream_.socket().available(ignored) == 0)
      co_return false;
    stream_.expires_after(close_after_response_ ? kDrainIdleTime : options_.limits.idle_time);
    idle_ = true;
    const size_t read = co_await stream_.async_read_some(
        buffer_.prepare(4096), asio::redirect_error(use_awaitable, error));
    idle_ = false;
    buffer_.commit(read);
  } while (error == asio::error::operation_aborted && stream_.socket().is_open());
  co_return !error;
}

Connection::Task<std::optional<Connection::Head>> Connection::read_request() {
  const HttpLimits& limits = options_.limits;
  http::request_parser<http::string_body> parser;
  parser.header_limit(static_cast<uint32_t>(limits.header_bytes));
  parser.body_limit(limits.body_bytes);
  error_code error;
  const auto received = buffer_.data();
  if (lacks_version({static_cast<const char*>(received.data()), received.size()})) {
    co_await refuse(400, "the request line has no version", request_of({}));
    co_return std::nullopt;
  }
  stream_.expires_after(limits.header_time);
  co_await http::async_read_header(stream_, buffer_, parser,
                                   asio::redirect_error(use_awaitable, error));
  if (!error) {
    const auto hosts = parser.get().count(http::field::host);
    if (hosts > 1 || (hosts == 0 && parser.get().version() >= 11)) {
      co_await refuse(400, fmt::format("the request has {} Host headers, expected one", hosts),
                      request_of(parser.get()));
      co_return std::nullopt;
    }
  }
  if (!error && !parser.is_done()) {
    const std::string expect = lower_case(std::string(parser.get()[http::field::expect]));
    if (!expect.empty() && expect != "100-continue") {
      co_await refuse(417, "Expect: 100-continue is the only expectation that can be met",
                      request_of(parser.get()));
      co_return std::nullopt;
    }
    stream_.expires_after(limits.body_time);
    if (!expect.empty() && !co_await write("HTTP/1.1 100 Continue\r\n\r\n")) co_return std::nullopt;
    stream_.expires_after(limits.body_time);
    co_await http::async_read(stream_, buffer_, parser, asio::redirect_error(use_awaitable, error));
  }
  if (error) {
    const int status = status_of(error);
    if (status != 0)
      co_await refuse(status, message_of(status, error, limits), request_of(parser.get()));
    co_return std::nullopt;
  }
  auto message = parser.release();
  const std::string_view target(message.target().data(), message.target().size());
  Head head{.http_1_0 = message.version() < 11, .keep_alive = message.keep_alive()};
  HttpRequest& request = head.request;
  request = request_of(message);
  request.body = std::move(message.body());
  if (!split_target(target, request.path, request.query)) {
    co_await refuse(400, "the request's target is not a valid path", std::move(request));
    co_return std::nullopt;
  }
  co_return head;
}

/// The method and the headers, as far as they were read, and the id.
HttpRequest Connection::request_of(const Message& message) {
  HttpRequest request;
  request.method = std::string(message.method_string());
  request.client = client_;
  for (const auto& field : message)
    request.headers.emplace_back(lower_case(std::string(field.name_string())),
                                 std::string(field.value()));
  request.id = request.header("x-request-id");
  if (!is_valid_request_id(request.id)) request.id = fmt::format("{}-{}", id_prefix_, ++requests_);
  return request;
}

/// Responds to what is not a request. The connection ends afterwards.
Connection::Task<void> Connection::refuse(int status, std::string message, HttpRequest request) {
  keep_alive_ = false;
  if (!stream_.socket().is_open()) co_return;
  const HttpResponse response = options_.error(status, message, request);
  const std::string framing = fmt::format("Content-Length: {}\r\n", response.body.size());
  co_await write(header_text(response, false, framing, request.id) + response.body);
}

/// A function that wakes the coroutines of this connection. Any thread may call it, also after the
/// connection has ended.
std::function<void()> Connection::waker() {
  return [weak = weak_from_this(), posted = wake_posted_, executor = stream_.get_executor()] {
    if (posted->exchange(true)) return;
    asio::post(executor, [weak, posted] {
      posted->store(false);
      const auto self = weak.lock();
      if (!self) return;
      if (self->transaction_ && self->transaction_->overflowed()) self->close();
      self->changed_.cancel();
    });
  };
}

Connection::Task<void> Connection::handle(Head head) {
  keep_alive_ = head.keep_alive;
  transaction_ = std::make_shared<HttpTransaction>(std::move(head.request),
                                                   options_.limits.pending_bytes, waker());
  watching_ = true;
  asio::co_spawn(
      stream_.get_executor(),
      [self = shared_from_this(), transaction = transaction_] {
        return self->watch_for_disconnect(transaction);
      },
      asio::detached);
  options_.handle(transaction_);
  if (!co_await write_response(head.http_1_0)) {
    keep_alive_ = false;
    transaction_->disconnect();
  }
  options_.finished(*transaction_);
  transaction_.reset();
  has_responded_ = true;
  // Only watch_for_disconnect() waits for the socket now.
  error_code ignored;
  if (watching_) stream_.socket().cancel(ignored);
  while (watching_) {
    changed_.expires_at(asio::steady_timer::time_point::max());
    co_await changed_.async_wait(asio::redirect_error(use_awaitable, ignored));
  }
}

/// Closes the connection when the client disconnects before the response is complete. Reads ahead
/// what the client sends.
Connection::Task<void> Connection::watch_for_disconnect(
    std::shared_ptr<HttpTransaction> transaction) {
  auto& socket = stream_.socket();
  error_code error;
  while (transaction_ == transaction && buffer_.size() < kReadAhead) {
    co_await socket.async_wait(asio::socket_base::wait_read,
                               asio::redirect_error(use_awaitable, error));
    if (error || transaction_ != transaction) break;
    socket.non_blocking(true, error);
    const size_t read = socket.read_some(buffer_.prepare(4096), error);
    buffer_.commit(read);
    if (error == asio::error::would_block) continue;
    if (error) {  // also ends a write that waits for the client to read
      close();
      break;
    }
  }
  watching_ = false;
  changed_.cancel();
}

/// Returns false when the client has disconnected.
Connection::Task<bool> Connection::write_response(bool http_1_0) {
  const std::shared_ptr<HttpTransaction> transaction = transaction_;
  const bool has_body = transaction->request().method != "HEAD";
  bool chunked = false;
  while (true) {
    error_code ignored;
    while (!transaction->ready() && stream_.socket().is_open()) {
      changed_.expires_at(asio::steady_timer::time_point::max());
      co_await changed_.async_wait(asio::redirect_error(use_awaitable, ignored));
    }
    if (!stream_.socket().is_open()) co_return false;
    HttpTransaction::Outgoing out = transaction->take();
    std::string bytes;
    if (out.head) {
      if (close_after_response_) keep_alive_ = false;
      chunked = out.streamed && !http_1_0 && has_body;
      if (out.streamed && http_1_0) keep_alive_ = false;
      const std::string framing =
          out.streamed ? (chunked ? "Transfer-Encoding: chunked\r\n" : "")
                       : fmt::format("Content-Length: {}\r\n", out.head->body.size());
      bytes = header_text(*out.head, keep_alive_, framing, transaction->request().id);
      if (has_body) bytes += out.head->body;
    }
    if (!out.bytes.empty() && has_body)
      bytes += chunked ? fmt::format("{:x}\r\n{}\r\n", out.bytes.size(), out.bytes) : out.bytes;
    if (out.ended && chunked) bytes += "0\r\n\r\n";
    if (!co_await write(bytes)) co_return false;
    if (out.ended) co_return true;
  }
}

/// Writes in chunks, for each of which a client has HttpLimits::write_time.
Connection::Task<bool> Connection::write(std::string_view bytes) {
  error_code error;
  while (!bytes.empty() && !error) {
    const std::string_view part = bytes.substr(0, kWriteChunk);
    stream_.expires_after(options_.limits.write_time);
    co_await asio::async_write(stream_, asio::buffer(part),
                               asio::redirect_error(use_awaitable, error));
    bytes.remove_prefix(part.size());
  }
  stream_.expires_never();
  co_return !error;
}

/// Closes the connection once the client has read the last response: closing it while received
/// bytes are unread would make the system discard what was written.
Connection::Task<void> Connection::linger() {
  constexpr std::chrono::seconds kTime(1);
  constexpr size_t kBytes = size_t{1} << 20;
  error_code error;
  if (!stream_.socket().is_open()) co_return;
  stream_.socket().shutdown(asio::socket_base::shutdown_send, error);
  stream_.expires_after(kTime);
  std::string sink(65'536, '\0');
  for (size_t read = 0; !error && read < kBytes;)
    read += co_await stream_.async_read_some(asio::buffer(sink),
                                             asio::redirect_error(use_awaitable, error));
  close();
}

}  // namespace heed::serve
