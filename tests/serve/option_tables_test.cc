#include <gtest/gtest.h>

#include "heed/serve/server_options.h"

namespace heed::serve {
namespace {

template <typename Table>
int rows() {
  int count = 0;
  Table::for_each([&](const auto&) { ++count; });
  return count;
}

/// Does not compile when a struct has other fields than this: a field needs a row.
TEST(ServerOptions, AreAllDeclared) {
  [[maybe_unused]] const auto& [a1, a2, http, queue, models, a3, a4, keys, a5, a6, a7, a8, log, a9,
                                a10, warn] = ServerOptions();
  EXPECT_EQ(rows<ServerOption>(), 10);
  [[maybe_unused]] const auto& [k1, k2, k3, k4, k5] = ApiKey();
  EXPECT_EQ(rows<ApiKeyOption>(), 5);
  [[maybe_unused]] const auto& [b1, b2, b3, b4, b5, b6, b7, b8] = HttpLimits();
  EXPECT_EQ(rows<HttpLimit>(), 8);
  [[maybe_unused]] const auto& [c1, c2] = QueueLimits();
  EXPECT_EQ(rows<QueueLimit>(), 2);
  [[maybe_unused]] const auto& [d1, d2, d3, d4] = BatchingOptions();
  EXPECT_EQ(rows<BatchingOption>(), 4);
  [[maybe_unused]] const auto& [e1, e2, e3, load, batching, e4, e5, e6, e7, model] = ModelSource();
  EXPECT_EQ(rows<ModelSourceOption>(), 7);
  [[maybe_unused]] const auto& [server, f1, f2] = ServerConfig();
  EXPECT_EQ(rows<ServerConfigOption>(), 2);
}

}  // namespace
}  // namespace heed::serve
