#include "heed/serve/http/transaction.h"

#include <gtest/gtest.h>

namespace heed::serve {
namespace {

TEST(HttpTransaction, KeepsTheFirstAnswer) {
  int woken = 0;
  HttpTransaction transaction({}, 100, [&] { ++woken; });
  EXPECT_FALSE(transaction.responded());
  transaction.respond({.status = 200, .body = "a"});
  transaction.respond({.status = 500, .body = "b"});
  transaction.begin({.status = 500, .body = "c"});
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(transaction.ended());
  const HttpTransaction::Outgoing out = transaction.take();
  ASSERT_TRUE(out.head);
  EXPECT_EQ(out.head->body, "a");
  EXPECT_TRUE(out.ended);
  EXPECT_FALSE(transaction.take().head);
}

TEST(HttpTransaction, SendsPartsInOrderAndNothingAfterTheEnd) {
  HttpTransaction transaction({}, 100, [] {});
  transaction.send("lost");
  transaction.begin({.body = "1"});
  transaction.send("2");
  EXPECT_EQ(transaction.take().bytes, "12");
  transaction.send("3");
  transaction.end();
  transaction.send("4");
  const HttpTransaction::Outgoing out = transaction.take();
  EXPECT_EQ(out.bytes, "3");
  EXPECT_TRUE(out.streamed);
  EXPECT_TRUE(out.ended);
}

TEST(HttpTransaction, DropsAClientThatDoesNotRead) {
  HttpTransaction transaction({}, 100, [] {});
  transaction.begin({});
  transaction.send(std::string(100, 'a'));
  EXPECT_FALSE(transaction.overflowed());
  transaction.send("b");
  EXPECT_TRUE(transaction.overflowed());
  transaction.send(std::string(1000, 'c'));
  EXPECT_TRUE(transaction.take().bytes.empty());
}

TEST(HttpTransaction, AddsHeadersToTheAnswer) {
  HttpTransaction transaction({}, 100, [] {});
  transaction.add_header({"Vary", "Origin"});
  transaction.respond({});
  const HttpTransaction::Outgoing out = transaction.take();
  ASSERT_EQ(out.head->headers.size(), 1u);
  EXPECT_EQ(out.head->headers[0].first, "Vary");
}

}  // namespace
}  // namespace heed::serve
