#include "heed/serve/http/http_server.h"

#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>

#include "heed/base/error.h"
#include "heed/base/mutex.h"
#include "heed/base/quote.h"
#include "heed/serve/http/connection.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace heed::serve {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

struct HttpServer::State {
  explicit State(HttpServerOptions given) : options(std::move(given)), acceptor(context) {}

  void listen();
  asio::awaitable<void> accept();
  asio::awaitable<void> serve(std::shared_ptr<Connection> connection);
  asio::awaitable<void> tick();
  void for_each_connection(void (Connection::*function)());

  HttpServerOptions options;
  asio::io_context context{1};
  tcp::acceptor acceptor;
  std::set<std::shared_ptr<Connection>> open;  // of the network thread
  int64_t accepted = 0;
  bool draining = false;
  uint16_t port = 0;

  mutable Mutex mutex;
  ConditionVariable closed;
  int connections HEED_GUARDED_BY(mutex) = 0;
  std::atomic<int64_t> refused = 0;  // connections
  std::thread thread;
};

void HttpServer::State::listen() {
  const std::string& host = options.host;
  error_code error;
  const asio::ip::address address = host == "localhost" ? asio::ip::make_address("127.0.0.1")
                                                        : asio::ip::make_address(host, error);
  require(!error, "{} is not an address to listen on, expected one such as 127.0.0.1 or ::1",
          heed::quoted(host));
  require(options.port >= 0 && options.port <= 65'535, "the port is {}, expected 0 to 65535",
          options.port);
  const tcp::endpoint endpoint(address, static_cast<uint16_t>(options.port));
  const auto check = [&](const char* what) {
    require(!error, "cannot {} {} port {}: {}", what, host, options.port, error.message());
  };
  acceptor.open(endpoint.protocol(), error);
  check("open a socket for");
  acceptor.set_option(asio::socket_base::reuse_address(true), error);
  acceptor.bind(endpoint, error);
  check("listen on");
  acceptor.listen(asio::socket_base::max_listen_connections, error);
  check("listen on");
  port = acceptor.local_endpoint().port();
}

asio::awaitable<void> HttpServer::State::accept() {
  while (acceptor.is_open()) {
    error_code error;
    tcp::socket socket =
        co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted) break;
    if (error) {  // of this connection alone, or too many files are open: wait for one to close
      asio::steady_timer pause(context, std::chrono::milliseconds(20));
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
      continue;
    }
    if (static_cast<int>(open.size()) >= options.limits.connections) {
      ++refused;
      continue;  // closes it
    }
    auto connection =
        std::make_shared<Connection>(std::move(socket), options, fmt::format("{:x}", ++accepted));
    if (draining) connection->close_when_idle();
    open.insert(connection);
    {
      const MutexLock lock(mutex);
      ++connections;
    }
    asio::co_spawn(context, serve(std::move(connection)), asio::detached);
  }
}

asio::awaitable<void> HttpServer::State::serve(std::shared_ptr<Connection> connection) {
  try {
    co_await connection->run();
  } catch (const std::exception&) {  // out of memory: this connection ends, the others go on
    connection->close();
  }
  open.erase(connection);
  const MutexLock lock(mutex);
  --connections;
  closed.notify_all();
}

asio::awaitable<void> HttpServer::State::tick() {
  asio::steady_timer timer(context);
  while (true) {
    timer.expires_after(std::chrono::milliseconds(100));
    co_await timer.async_wait(asio::use_awaitable);
    options.tick();
  }
}

void HttpServer::State::for_each_connection(void (Connection::*function)()) {
  const std::set<std::shared_ptr<Connection>> all = open;
  for (const auto& connection : all) ((*connection).*function)();
}

HttpServer::HttpServer(HttpServerOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

HttpServer::~HttpServer() { stop(); }

void HttpServer::start() {
  State& s = *state_;
  s.listen();
  asio::co_spawn(s.context, s.accept(), asio::detached);
  asio::co_spawn(s.context, s.tick(), asio::detached);
  s.thread = std::thread([&s] { s.context.run(); });
}

void HttpServer::stop() {
  State& s = *state_;
  if (!s.thread.joinable()) return;
  asio::post(s.context, [&s] {
    error_code ignored;
    s.acceptor.close(ignored);
    s.for_each_connection(&Connection::close);
  });
  wait_until_drained(std::chrono::seconds(1));
  s.context.stop();
  s.thread.join();
}

uint16_t HttpServer::port() const { return state_->port; }

int64_t HttpServer::connections() const {
  const MutexLock lock(state_->mutex);
  return state_->connections;
}

int64_t HttpServer::refused_connections() const { return state_->refused; }

void HttpServer::close_inherited_port() {
  // Not close(), which would tell the epoll instance that is shared with the parent.
  if (state_->acceptor.is_open()) ::close(state_->acceptor.native_handle());
}

void HttpServer::drain() {
  State& s = *state_;
  asio::post(s.context, [&s] {
    s.draining = true;
    s.for_each_connection(&Connection::close_when_idle);
  });
}

bool HttpServer::wait_until_drained(std::chrono::milliseconds time) {
  State& s = *state_;
  MutexLock lock(s.mutex);
  const auto end = std::chrono::steady_clock::now() + time;
  while (s.connections > 0)
    if (!s.closed.wait_until(lock, end)) break;
  return s.connections == 0;
}

}  // namespace heed::serve
