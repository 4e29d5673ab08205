// heed-nccl.so on a GPU. One is enough: a rank that is alone sends to itself.
#include "heed/distribute/nccl_plugin.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "heed/base/shared_library.h"
#include "heed/distribute/nccl_transport.h"

#ifndef HEED_NCCL_PLUGIN
#define HEED_NCCL_PLUGIN ""
#endif

namespace heed::distribute {
namespace {

constexpr std::chrono::seconds kDeadline{60};

class NcclPlugin : public testing::Test {
 protected:
  void SetUp() override {
    if (*HEED_NCCL_PLUGIN == '\0') GTEST_SKIP() << "heed was built without NCCL";
    const heed_nccl_plugin* (*open)() = nullptr;
    SharedLibrary({HEED_NCCL_PLUGIN}, "this test", "libnccl2").find(open, "heed_open_nccl_plugin");
    nccl_ = open();
    ASSERT_EQ(nccl_->version, HEED_NCCL_PLUGIN_VERSION);
    if (std::filesystem::exists("/dev/nvidiactl")) return;
    std::array<char, HEED_NCCL_ERROR_BYTES> error{};
    void* connection = nullptr;
    EXPECT_EQ(nccl_->open(0, &connection, error.data()), 1);
    EXPECT_NE(std::string(error.data()).find("this host has no GPU that can be used"),
              std::string::npos);
    GTEST_SKIP() << "there is no GPU";
  }

  std::unique_ptr<NcclConnection> connected() const {
    auto connection = std::make_unique<NcclConnection>(*nccl_);
    connection->connect(connection->make_ids(), 0, 1, kDeadline);
    return connection;
  }

  const heed_nccl_plugin* nccl_ = nullptr;
};

/// Bytes that a channel sends to its own rank.
struct Loop {
  Loop(size_t count, int seed) : out(count), in(count) {
    for (size_t i = 0; i < count; ++i)
      out[i] = static_cast<std::byte>((i * 31 + static_cast<size_t>(seed) * 7) % 251);
  }
  heed_nccl_exchange exchange() { return {out.data(), out.size(), 0, in.data(), in.size(), 0}; }

  std::vector<std::byte> out, in;
};

void wait_for(NcclConnection& connection, int channel) {
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (!connection.done(channel)) ASSERT_LT(std::chrono::steady_clock::now(), end);
}

TEST_F(NcclPlugin, ExchangesBytesOfAllSizesOnEachChannel) {
  const auto connection = connected();
  for (const size_t count :
       {size_t{1}, NcclTransport::kLeastBytes, HEED_NCCL_MOST_BYTES - 1, HEED_NCCL_MOST_BYTES})
    for (int channel = 0; channel < HEED_NCCL_CHANNELS; ++channel) {
      Loop loop(count, channel);
      connection->exchange(channel, loop.exchange());
      wait_for(*connection, channel);
      EXPECT_TRUE(loop.in == loop.out) << count << " bytes, channel " << channel;
    }
  connection->finish();
}

TEST_F(NcclPlugin, ChannelsAreBusyAtTheSameTime) {
  const auto connection = connected();
  for (int repetition = 0; repetition < 50; ++repetition) {
    std::vector<Loop> loops;
    for (int channel = 0; channel < HEED_NCCL_CHANNELS; ++channel)
      loops.emplace_back(HEED_NCCL_MOST_BYTES / static_cast<size_t>(channel + 1), repetition);
    for (int channel = 0; channel < HEED_NCCL_CHANNELS; ++channel)
      connection->exchange(channel, loops[static_cast<size_t>(channel)].exchange());
    for (int channel = HEED_NCCL_CHANNELS - 1; channel >= 0; --channel)
      wait_for(*connection, channel);
    for (const Loop& loop : loops) EXPECT_TRUE(loop.in == loop.out);
  }
  connection->finish();
}

TEST_F(NcclPlugin, ConnectionIsGivenUpWhileChannelsAreBusy) {
  std::vector<Loop> loops;
  for (int channel = 0; channel < HEED_NCCL_CHANNELS; ++channel)
    loops.emplace_back(HEED_NCCL_MOST_BYTES, channel);
  const auto begin = std::chrono::steady_clock::now();
  const auto connection = connected();
  for (int channel = 0; channel < HEED_NCCL_CHANNELS; ++channel)
    connection->exchange(channel, loops[static_cast<size_t>(channel)].exchange());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kDeadline);
}

TEST_F(NcclPlugin, RankThatDoesNotExistIsAnError) {
  const auto connection = connected();
  Loop loop(1, 0);
  heed_nccl_exchange exchange = loop.exchange();
  exchange.to = 1;
  EXPECT_THROW(
      {
        connection->exchange(0, exchange);
        wait_for(*connection, 0);
      },
      Error);
}

}  // namespace
}  // namespace heed::distribute
