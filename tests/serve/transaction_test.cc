#include "heed/serve/http/transaction.h"

#include <gtest/gtest.h>

namespace heed::serve {
namespace {

TEST(HttpTransaction, KeepsTheFirstAnswer) {
  int woken = 0;
  HttpTransaction exchange({}, 100, [&] { ++woken; });
  EXPECT_FALSE(exchange.answered());
  exchange.respond({.status = 200, .body = "a"});
  exchange.respond({.status = 500, .body = "b"});
  exchange.begin({.status = 500, .body = "c"});
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(exchange.ended());
  const HttpTransaction::Outgoing out = exchange.take();
  ASSERT_TRUE(out.head);
  EXPECT_EQ(out.head->body, "a");
  EXPECT_TRUE(out.ended);
  EXPECT_FALSE(exchange.take().head);
}

TEST(HttpTransaction, SendsPartsInOrderAndNothingAfterTheEnd) {
  HttpTransaction exchange({}, 100, [] {});
  exchange.send("lost");
  exchange.begin({.body = "1"});
  exchange.send("2");
  EXPECT_EQ(exchange.take().bytes, "12");
  exchange.send("3");
  exchange.end();
  exchange.send("4");
  const HttpTransaction::Outgoing out = exchange.take();
  EXPECT_EQ(out.bytes, "3");
  EXPECT_TRUE(out.streamed);
  EXPECT_TRUE(out.ended);
}

TEST(HttpTransaction, DropsAClientThatDoesNotRead) {
  HttpTransaction exchange({}, 100, [] {});
  exchange.begin({});
  exchange.send(std::string(100, 'a'));
  EXPECT_FALSE(exchange.overflowed());
  exchange.send("b");
  EXPECT_TRUE(exchange.overflowed());
  exchange.send(std::string(1000, 'c'));
  EXPECT_TRUE(exchange.take().bytes.empty());
}

TEST(HttpTransaction, AddsHeadersToTheAnswer) {
  HttpTransaction exchange({}, 100, [] {});
  exchange.add_header({"Vary", "Origin"});
  exchange.respond({});
  const HttpTransaction::Outgoing out = exchange.take();
  ASSERT_EQ(out.head->headers.size(), 1u);
  EXPECT_EQ(out.head->headers[0].first, "Vary");
}

}  // namespace
}  // namespace heed::serve
