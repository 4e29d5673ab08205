#include "heed/serve/operations/history.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace heed::serve {
namespace {

TEST(History, KeepsASampleOfEveryTenSecondsForAnHour) {
  History history;
  auto now = History::Clock::now();
  EXPECT_FALSE(history.due(now));
  for (int i = 0; i < 400; ++i) {
    now += History::kInterval + std::chrono::seconds(1);
    ASSERT_TRUE(history.due(now));
    Metrics::Interval interval;
    interval.requests = i;
    if (i % 2 == 0) interval.seconds.add(0.07);
    history.add(now, interval, {.queued_requests = 3, .running_requests = 4, .memory_bytes = 5});
    EXPECT_FALSE(history.due(now));
  }
  const auto json = history.json();
  EXPECT_EQ(json["interval_seconds"], 10);
  for (const auto& [name, list] : json.items())
    if (list.is_array()) {
      EXPECT_EQ(list.size(), 360u) << name;
    }
  EXPECT_EQ(json["requests"].front(), 40);
  EXPECT_EQ(json["requests"].back(), 399);
  EXPECT_EQ(json["running_requests"].back(), 4);
  EXPECT_EQ(json["memory_bytes"].back(), 5);
  EXPECT_TRUE(json["seconds_p50"].back().is_null());
  EXPECT_DOUBLE_EQ(json["seconds_p50"][358].get<double>(), 0.075);
  EXPECT_LT(json.dump().size(), 60'000u);
}

}  // namespace
}  // namespace heed::serve
