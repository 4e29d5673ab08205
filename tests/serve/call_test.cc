#include "heed/serve/call.h"

#include <gtest/gtest.h>

namespace heed::serve {
namespace {

std::shared_ptr<HttpTransaction> transaction() {
  return std::make_shared<HttpTransaction>(HttpRequest{}, 100'000, [] {});
}

TEST(Call, LeavesTheQueueWhenItsPartsStart) {
  Admission admission({});
  Call call(transaction(), "/");
  call.enqueue(admission, 10);
  EXPECT_EQ(admission.requests(), 1);
  EXPECT_EQ(admission.tokens(), 10);
  call.part_started(4);
  EXPECT_EQ(admission.requests(), 0);
  EXPECT_EQ(admission.tokens(), 6);
  call.part_started(6);
  EXPECT_EQ(admission.tokens(), 0);
}

TEST(Call, BeginsAStreamOnceItsWorkIsAccepted) {
  const auto stream = transaction(), whole = transaction();
  Call streamed(stream, "/"), other(whole, "/");
  streamed.on_accepted([&] { streamed.begin_events(); });
  EXPECT_FALSE(stream->responded());
  streamed.accepted();
  other.accepted();
  EXPECT_EQ(stream->status(), 200);
  EXPECT_FALSE(whole->responded());
  EXPECT_EQ(stream->take().bytes, "");
}

TEST(Call, SendsACommentWhileItsStreamIsSilent) {
  const auto stream = transaction();
  Call call(stream, "/");
  const auto later = Call::Clock::now() + Call::kHeartbeat + std::chrono::seconds(1);
  call.send_heartbeat(later);  // there is no stream yet
  call.begin_events();
  call.send_heartbeat(Call::Clock::now());
  EXPECT_EQ(stream->take().bytes, "");
  call.send_heartbeat(later);
  call.send_heartbeat(later + Call::kHeartbeat - std::chrono::seconds(1));
  EXPECT_EQ(stream->take().bytes, ": heartbeat\n\n");
  call.send_heartbeat(later + Call::kHeartbeat);
  call.send_event("[DONE]");
  call.end_events();
  call.send_heartbeat(later + 10 * Call::kHeartbeat);
  EXPECT_EQ(stream->take().bytes, ": heartbeat\n\ndata: [DONE]\n\n");
}

TEST(Call, LeavesTheQueueWhenItIsDropped) {
  Admission admission({});
  {
    Call waiting(transaction(), "/"), begun(transaction(), "/");
    waiting.enqueue(admission, 10);
    begun.enqueue(admission, 7);
    begun.part_started(3);
    EXPECT_EQ(admission.tokens(), 14);
  }
  EXPECT_EQ(admission.requests(), 0);
  EXPECT_EQ(admission.tokens(), 0);
}

TEST(Call, TellsOnceThatItIsCancelled) {
  Call call(transaction(), "/");
  int told = 0;
  call.on_cancel([&] { ++told; });
  call.cancel();
  call.cancel();
  EXPECT_EQ(told, 1);
  call.on_cancel([&] { ++told; });
  EXPECT_EQ(told, 2);
  EXPECT_TRUE(call.cancelled());
}

TEST(Call, ReadsInputFromItsStartToItsFirstToken) {
  Admission admission({});
  Call call(transaction(), "/");
  call.enqueue(admission, 1);
  EXPECT_FALSE(call.is_prefilling());
  call.part_started(1);
  EXPECT_TRUE(call.is_prefilling());
  call.tokens_generated(1);
  EXPECT_FALSE(call.is_prefilling());
}

TEST(Call, EndsAStreamWithTheError) {
  const auto shared = transaction();
  Call call(shared, "/");
  call.begin_events();
  call.send_event("{}");
  call.fail(unavailable("out of memory", 1));
  const HttpTransaction::Outgoing out = shared->take();
  EXPECT_EQ(out.head->status, 200);
  EXPECT_TRUE(out.ended);
  EXPECT_TRUE(out.bytes.starts_with("data: {}\n\ndata: {\"error\":{\"message\":\"out of memory\""));
  EXPECT_TRUE(out.bytes.ends_with("}}\n\n"));
}

TEST(Call, MeasuresTheTimeBetweenTokens) {
  Call call(transaction(), "/");
  int intervals = 0;
  call.on_token_interval = [&](double seconds) {
    EXPECT_GE(seconds, 0);
    ++intervals;
  };
  call.tokens_generated(1);
  call.tokens_generated(0);
  call.tokens_generated(1);
  call.tokens_generated(1);
  EXPECT_EQ(intervals, 2);
}

}  // namespace
}  // namespace heed::serve
