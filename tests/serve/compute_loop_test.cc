#include "heed/serve/compute_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "tests/serve/run_on.h"

namespace heed::serve {
namespace {

/// Has so many parts of work, and notes whose turn it is.
class Parts : public Workload {
 public:
  Parts(int parts, char name, std::string& turns) : parts_(parts), name_(name), turns_(turns) {}

  bool work() override {
    if (parts_ > 0) {
      --parts_;
      turns_ += name_;
    }
    return parts_ > 0;
  }
  void drop() override { turns_ += '-'; }

 private:
  int parts_;
  const char name_;
  std::string& turns_;
};

TEST(ComputeLoop, SaysForHowLongItHasBeenAtTheSamePart) {
  using namespace std::chrono_literals;
  ComputeLoop loop;
  std::promise<void> begun, go_on;
  loop.post([&] {
    begun.set_value();
    go_on.get_future().wait();
  });
  begun.get_future().wait();
  std::this_thread::sleep_for(30ms);
  EXPECT_GE(loop.busy_for(), 25ms);
  go_on.set_value();
  run_on(loop, [] {});
  for (int i = 0; i < 2000 && loop.busy_for() > 0ms; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(loop.busy_for(), 0ms);
}

TEST(ComputeLoop, LetsWorkloadsTakeTurns) {
  std::string turns;
  ComputeLoop loop;
  const auto a = std::make_shared<Parts>(4, 'a', turns);
  const auto b = std::make_shared<Parts>(2, 'b', turns);
  run_on(loop, [&] {
    loop.add(a);
    loop.add(b);
    loop.add(a);  // has its turns already
  });
  std::string seen;
  while (seen.size() < 6) run_on(loop, [&] { seen = turns; });
  EXPECT_EQ(seen, "ababaa");
}

TEST(ComputeLoop, ForgetsWhatWasRemoved) {
  std::string turns;
  ComputeLoop loop;
  const auto a = std::make_shared<Parts>(1 << 30, 'a', turns);
  run_on(loop, [&] { loop.add(a); });
  run_on(loop, [&] { loop.remove(*a); });
  std::string before, after;
  run_on(loop, [&] { before = turns; });
  run_on(loop, [&] { after = turns; });
  EXPECT_EQ(before, after);
  EXPECT_EQ(a.use_count(), 1);
}

TEST(ComputeLoop, LetsWorkloadsDropWhatIsLeft) {
  std::string turns;
  {
    ComputeLoop loop;
    run_on(loop, [&] { loop.add(std::make_shared<Parts>(0, 'a', turns)); });
  }
  EXPECT_EQ(turns, "-");
}

TEST(ComputeLoop, RunsWhatIsPostedInOrderOnOneThread) {
  std::vector<int> order;
  std::thread::id thread;
  {
    ComputeLoop loop;
    for (int i = 0; i < 100; ++i) loop.post([&order, i] { order.push_back(i); });
    run_on(loop, [&] { thread = std::this_thread::get_id(); });
  }
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
  EXPECT_NE(thread, std::this_thread::get_id());
}

}  // namespace
}  // namespace heed::serve
