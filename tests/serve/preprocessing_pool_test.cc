#include "heed/serve/preprocessing_pool.h"

#include <gtest/gtest.h>

#include <future>

#include "heed/base/interrupt.h"
#include "heed/error.h"

namespace heed::serve {
namespace {

std::shared_ptr<Call> call_of(size_t body_bytes) {
  HttpRequest request;
  request.body.assign(body_bytes, 'a');
  return std::make_shared<Call>(std::make_shared<HttpTransaction>(std::move(request), 0, [] {}),
                                "/");
}

/// Reads until it is interrupted.
[[noreturn]] void read_for_ever() {
  while (true) check_interrupted();
}

TEST(PreprocessingPool, DoNotLetShortRequestsWaitForLongOnes) {
  std::promise<void> read;
  PreprocessingPool readers;
  for (int i = 0; i < 20; ++i) readers.post(call_of(PreprocessingPool::kLongBody), read_for_ever);
  EXPECT_GE(readers.waiting_long(), 19);
  readers.post(call_of(10), [&] { read.set_value(); });
  read.get_future().wait();
}

TEST(PreprocessingPool, ReadTheShortestOfLongRequestsFirst) {
  std::promise<void> posted, done;
  std::vector<size_t> order;
  PreprocessingPool readers;
  readers.post(call_of(PreprocessingPool::kLongBody), [&] { posted.get_future().wait(); });
  for (const size_t more : {3u, 1u, 2u, 0u})
    readers.post(call_of(PreprocessingPool::kLongBody + more), [&, more] {
      order.push_back(more);
      if (order.size() == 4) done.set_value();
    });
  posted.set_value();
  done.get_future().wait();
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3}));
}

TEST(PreprocessingPool, EndWhatNobodyWantsAnyMore) {
  std::promise<void> begun, next;
  bool ran = false;
  PreprocessingPool readers;
  const std::shared_ptr<Call> call = call_of(PreprocessingPool::kLongBody);
  readers.post(call, [&] {
    begun.set_value();
    read_for_ever();
  });
  begun.get_future().wait();
  const std::shared_ptr<Call> waiting = call_of(PreprocessingPool::kLongBody);
  readers.post(waiting, [&] { ran = true; });
  waiting->cancel();
  readers.post(call_of(PreprocessingPool::kLongBody), [&] { next.set_value(); });
  call->cancel();
  next.get_future().wait();
  EXPECT_FALSE(ran);
}

TEST(PreprocessingPool, AnswerWhenTheDeadlineHasPassed) {
  const std::shared_ptr<Call> call = call_of(10);
  call->deadline = Call::Clock::now();
  PreprocessingPool readers;
  readers.post(call, read_for_ever);
  while (!call->transaction().responded()) std::this_thread::yield();
  EXPECT_EQ(call->transaction().status(), 504);
}

TEST(PreprocessingPool, AnswerWithWhatReadingThrows) {
  PreprocessingPool readers;
  const std::shared_ptr<Call> wrong = call_of(10), damaged = call_of(10);
  readers.post(wrong, [] { throw InputError("wrong"); });
  readers.post(damaged, [] { throw Error("damaged"); });
  while (!wrong->transaction().responded() || !damaged->transaction().responded())
    std::this_thread::yield();
  EXPECT_EQ(wrong->transaction().status(), 400);
  EXPECT_EQ(damaged->transaction().status(), 500);
}

TEST(PreprocessingPool, EndInTheMiddleOfTheirWork) {
  const std::shared_ptr<Call> call = call_of(10), waiting = call_of(PreprocessingPool::kLongBody);
  {
    std::promise<void> begun;
    PreprocessingPool readers;
    readers.post(call, [&] {
      begun.set_value();
      read_for_ever();
    });
    readers.post(call_of(PreprocessingPool::kLongBody), read_for_ever);
    readers.post(waiting, read_for_ever);
    begun.get_future().wait();
    readers.stop();
    EXPECT_EQ(waiting.use_count(), 1);
    readers.post(waiting, read_for_ever);
    EXPECT_EQ(waiting.use_count(), 1);
  }
  EXPECT_EQ(call->transaction().status(), 503);
}

}  // namespace
}  // namespace heed::serve
