// Connections, without models: the handler answers with what it was asked.
#include "heed/serve/http/http_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "heed/error.h"
#include "tests/serve/http_client.h"

namespace heed::serve {
namespace {

using namespace std::chrono_literals;

/// Echoes bodies; /later is answered by the test, /stream in three parts.
class EchoServer {
 public:
  explicit EchoServer(HttpLimits limits = {}) : server_(options(limits)) { server_.start(); }
  ~EchoServer() { server_.stop(); }

  uint16_t port() const { return server_.port(); }
  HttpServer& http() { return server_; }
  /// The request to /later, once it has arrived.
  std::shared_ptr<HttpTransaction> later() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 10s, [&] { return later_ != nullptr; });
    return later_;
  }
  /// Whether so many transactions have finished, and how many of them without their client.
  bool finishes(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return finished_ >= count; });
  }
  int abandoned() const { return abandoned_; }

 private:
  HttpServerOptions options(const HttpLimits& limits) {
    HttpServerOptions options{.port = 0, .limits = limits};
    options.handle = [this](const std::shared_ptr<HttpTransaction>& transaction) {
      handle(transaction);
    };
    options.error = [](int status, std::string_view message, const HttpRequest&) {
      return HttpResponse{.status = status, .body = std::string(message)};
    };
    options.finished = [this](const HttpTransaction& transaction) {
      const std::lock_guard lock(mutex_);
      ++finished_;
      if (transaction.disconnected()) ++abandoned_;
      changed_.notify_all();
    };
    options.tick = [] {};
    return options;
  }
  void handle(const std::shared_ptr<HttpTransaction>& transaction) {
    const HttpRequest& request = transaction->request();
    if (request.path == "/later") {
      const std::lock_guard lock(mutex_);
      later_ = transaction;
      changed_.notify_all();
    } else if (request.path == "/stream") {
      transaction->begin({.body = "one"});
      transaction->send("two");
      transaction->end();
    } else {
      transaction->respond({.body = request.method + ' ' + request.path + ' ' + request.body});
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<HttpTransaction> later_;
  std::atomic<int> finished_ = 0, abandoned_ = 0;
  HttpServer server_;
};

/// The answer to bytes on a connection of their own.
Answer answer_to(const EchoServer& server, std::string_view bytes) {
  HttpClient client(server.port());
  client.send(bytes);
  return client.read();
}

/// Whether the server closes the connection without another byte.
bool closes(HttpClient& client) {
  try {
    client.read();
    return false;
  } catch (const std::runtime_error&) {
    return true;
  }
}

TEST(HttpServer, AnswersManyRequestsOfAConnectionInOrder) {
  EchoServer server;
  HttpClient client(server.port());
  std::string bytes;
  for (int i = 0; i < 50; ++i)
    bytes += "POST /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi";
  client.send(bytes);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(client.read().body, "POST /" + std::to_string(i) + " hi");
}

TEST(HttpServer, ReadsBodiesInChunks) {
  EchoServer server;
  EXPECT_EQ(answer_to(server,
                      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                      "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n")
                .body,
            "POST / abcde");
}

TEST(HttpServer, SendsStreamsInChunksAndToOldClientsUntilTheEnd) {
  EchoServer server;
  HttpClient client(server.port());
  const Answer chunked = client.request("GET", "/stream");
  EXPECT_EQ(chunked.headers.at("transfer-encoding"), "chunked");
  EXPECT_EQ(chunked.body, "onetwo");
  EXPECT_EQ(client.request("GET", "/x").body, "GET /x ");
  Answer old = answer_to(server, "GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.headers["transfer-encoding"], "");
  EXPECT_EQ(old.headers.at("connection"), "close");
}

TEST(HttpServer, ClosesConnectionsThatAreNotKept) {
  EchoServer server;
  for (const char* request :
       {"GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"}) {
    HttpClient client(server.port());
    client.send(request);
    EXPECT_EQ(client.read().headers.at("connection"), "close");
    EXPECT_TRUE(closes(client));
  }
}

TEST(HttpServer, KeepsTheIdOfARequestIfItIsUsable) {
  EchoServer server;
  HttpClient client(server.port());
  EXPECT_EQ(client.request("GET", "/", {}, {{"X-Request-Id", "a.B-9_"}}).headers["x-request-id"],
            "a.B-9_");
  for (const std::string& bad : std::vector<std::string>{"a b", "a\"", std::string(65, 'a'), ""}) {
    const Answer answer = client.request("GET", "/", {}, {{"X-Request-Id", bad}});
    EXPECT_NE(answer.headers.at("x-request-id"), bad);
    EXPECT_FALSE(answer.headers.at("x-request-id").empty());
  }
}

TEST(HttpServer, RefusesWhatIsNoRequest) {
  EchoServer server;
  for (const char* bytes :
       {"nonsense\r\n\r\n", "GET /\r\n\r\n", "GET / \r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n",  // refused before its body has come
        "GET nowhere HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/2.0\r\n\r\n",
        "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    HttpClient client(server.port());
    client.send(bytes);
    EXPECT_EQ(client.read().status, 400) << bytes;
    EXPECT_TRUE(closes(client)) << bytes;
  }
}

TEST(HttpServer, LimitsHeadersAndBodies) {
  EchoServer server({.header_bytes = 500, .body_bytes = 1000});
  EXPECT_EQ(
      answer_to(server, "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(600, 'a') + "\r\n\r\n")
          .status,
      431);
  EXPECT_EQ(answer_to(server, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n").status,
            413);
  EXPECT_EQ(
      answer_to(server, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n" +
                            std::string(1024, 'a') + "\r\n")
          .status,
      413);
  HttpClient client(server.port());
  EXPECT_EQ(client.request("POST", "/", std::string(1000, 'a')).status, 200);
}

TEST(HttpServer, MeetsTheExpectationOfAContinuation) {
  EchoServer server;
  HttpClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.read().status, 100);
  client.send("hi");
  EXPECT_EQ(client.read().body, "POST / hi");
  EXPECT_EQ(
      answer_to(server, "POST / HTTP/1.1\r\nHost: a\r\nExpect: magic\r\nContent-Length: 2\r\n\r\n")
          .status,
      417);
}

TEST(HttpServer, ClosesConnectionsThatAreTooSlow) {
  EchoServer server({.idle_time = 100ms, .header_time = 100ms, .body_time = 100ms});
  for (const char* bytes :
       {"", "GET / HTTP/1.1\r\n", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na"}) {
    HttpClient client(server.port());
    client.send(bytes);
    EXPECT_TRUE(closes(client)) << bytes;
  }
}

TEST(HttpServer, NoticesThatAClientLeaves) {
  EchoServer server;
  std::shared_ptr<HttpTransaction> transaction;
  {
    HttpClient client(server.port());
    client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
    transaction = server.later();
    ASSERT_TRUE(transaction);
    EXPECT_FALSE(transaction->disconnected());
  }
  ASSERT_TRUE(server.finishes(1));
  EXPECT_TRUE(transaction->disconnected());
  EXPECT_EQ(server.abandoned(), 1);
  transaction->respond({.body = "too late"});
}

TEST(HttpServer, NoticesThatAClientLeavesWhichSentTheNextRequestAlready) {
  EchoServer server;
  {
    HttpClient client(server.port());
    client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_TRUE(server.later());
  }
  ASSERT_TRUE(server.finishes(1));
  EXPECT_EQ(server.abandoned(), 1);
}

TEST(HttpServer, DropsAClientThatDoesNotReadItsStream) {
  EchoServer server({.pending_bytes = 100'000});
  HttpClient client(server.port());
  client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::shared_ptr<HttpTransaction> transaction = server.later();
  ASSERT_TRUE(transaction);
  transaction->begin({});
  const std::string part(10'000, 'a');
  for (int i = 0; i < 2000 && !transaction->disconnected(); ++i) {
    transaction->send(part);
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(server.finishes(1));
  EXPECT_TRUE(transaction->disconnected());
}

TEST(HttpServer, AcceptsNoMoreConnectionsThanItMay) {
  EchoServer server({.connections = 2});
  HttpClient first(server.port()), second(server.port());
  EXPECT_EQ(first.request("GET", "/").status, 200);
  EXPECT_EQ(second.request("GET", "/").status, 200);
  HttpClient third(server.port());
  EXPECT_TRUE(closes(third));
  EXPECT_EQ(first.request("GET", "/").status, 200);
}

TEST(HttpServer, AnswersWhatItHasBegunBeforeItEnds) {
  EchoServer server;
  HttpClient idle(server.port()), busy(server.port());
  EXPECT_EQ(idle.request("GET", "/").status, 200);
  busy.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::shared_ptr<HttpTransaction> transaction = server.later();
  server.http().drain();
  EXPECT_TRUE(closes(idle));
  HttpClient late(server.port());
  EXPECT_EQ(late.request("GET", "/").headers.at("connection"), "close");
  EXPECT_TRUE(closes(late));
  EXPECT_FALSE(server.http().wait_until_drained(50ms));
  transaction->respond({.body = "the last"});
  const Answer last = busy.read();
  EXPECT_EQ(last.body, "the last");
  EXPECT_EQ(last.headers.at("connection"), "close");
  EXPECT_TRUE(server.http().wait_until_drained(10s));
}

TEST(HttpServer, SaysWhyItCannotListen) {
  EchoServer server;
  HttpServerOptions taken{.port = server.port()};
  EXPECT_THROW(HttpServer(taken).start(), Error);
  EXPECT_THROW(HttpServer({.host = "nowhere", .port = 0}).start(), Error);
  EXPECT_THROW(HttpServer({.port = 70'000}).start(), Error);
}

}  // namespace
}  // namespace heed::serve
