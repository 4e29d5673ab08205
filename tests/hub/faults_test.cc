// What a server and a network may do wrong: a download continues, or it fails with one line and
// leaves nothing that looks whole.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "heed/hub.h"
#include "tests/base/child.h"
#include "tests/hub/hub_server.h"

namespace heed::hub {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kWeights = "/model.safetensors";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Faults : public testing::Test {
 protected:
  Faults() { hub_.add_model(); }

  /// The error when requests for the weights meet a fault; they must not appear.
  std::string error_with(const nlohmann::json& fault) {
    hub_.set_faults({{kWeights, fault}});
    const std::string error = hub_.error();
    EXPECT_FALSE(fs::exists(hub_.snapshot() / "model.safetensors")) << error;
    EXPECT_FALSE(fs::exists(hub_.cached() / "refs/main"));
    EXPECT_EQ(error.find('\n'), std::string::npos);
    return error;
  }
  void expect_whole() {
    EXPECT_EQ(read_file(hub_.resolve() / "model.safetensors"), hub_.weights());
  }
  fs::path incomplete() const {
    for (const fs::directory_entry& entry : fs::directory_iterator(hub_.cached() / "blobs"))
      if (entry.path().extension() == ".incomplete") return entry.path();
    return {};
  }
  /// The Range of each request for the weights that the content delivery network answered.
  std::vector<std::string> ranges() const {
    std::vector<std::string> found;
    for (const nlohmann::json& request : hub_.requests(kWeights))
      if (request["port"] == hub_.cdn_port())
        found.push_back(request["range"].is_null() ? "" : request["range"].get<std::string>());
    return found;
  }

  const HubServer hub_;
};

TEST_F(Faults, ABrokenConnectionIsContinued) {
  // Requests meet the fault twice: at the hub, which redirects, and at the network.
  hub_.set_faults({{kWeights, {{"break_after", 1000000}, {"times", 4}}}});
  expect_whole();
  EXPECT_EQ(ranges(), (std::vector<std::string>{"", "bytes=1000000-", "bytes=2000000-"}));
}

TEST_F(Faults, AConnectionThatBreaksForEverFailsAndIsContinuedByTheNextDownload) {
  const std::string error = error_with({{"break_after", 200000}});
  EXPECT_NE(error.find("model.safetensors of acme/tiny: "), std::string::npos) << error;
  EXPECT_NE(error.find(", 3 times; the next download continues it"), std::string::npos) << error;
  EXPECT_EQ(fs::file_size(incomplete()), 600000u);
  hub_.set_faults({});
  expect_whole();
  EXPECT_EQ(ranges().back(), "bytes=600000-");
  EXPECT_EQ(incomplete(), "");
}

TEST_F(Faults, AServerWithoutRangesIsReadFromTheBeginning) {
  hub_.set_faults({{kWeights, {{"break_after", 1000000}, {"times", 2}}}});
  HubOptions options = hub_.options();
  options.timeouts.attempts = 1;
  EXPECT_NE(error_of([&] { resolve_model("acme/tiny", options); }), "no error");
  hub_.set_faults({{"model.safetensors", {{"no_ranges", true}}}});
  expect_whole();
}

TEST_F(Faults, ASizeOtherThanListedIsRefused) {
  EXPECT_NE(error_with({{"length", 5}}).find("announces 5 bytes, expected 3000"),
            std::string::npos);
  EXPECT_NE(error_with({{"length", uint64_t{1} << 60}}).find("announces 1152921504606846976 bytes"),
            std::string::npos);
  EXPECT_NE(error_with({{"extra", 10}, {"chunked", true}}).find("sends more than 3000"),
            std::string::npos);
  const std::string error = error_with({{"shift_range", 7}, {"break_after", 1000}});
  EXPECT_NE(error.find("sends the bytes from "), std::string::npos) << error;
}

TEST_F(Faults, AnEndBeforeTheListedSizeIsContinued) {
  hub_.set_faults({{kWeights, {{"chunked", true}, {"break_after", 1000000}, {"times", 2}}}});
  expect_whole();
  EXPECT_EQ(ranges(), (std::vector<std::string>{"", "bytes=1000000-"}));
}

TEST_F(Faults, WrongBytesAreRefused) {
  const std::string error = error_with({{"bytes", "wrong"}});
  EXPECT_NE(error.find("model.safetensors of acme/tiny: has the SHA-256 "), std::string::npos)
      << error;
  EXPECT_EQ(ranges().size(), 1u);
  hub_.set_faults({});
  expect_whole();
  hub_.set_faults({{"/config.json", {{"bytes", "wrong"}}}});
  fs::remove_all(hub_.cache());
  EXPECT_NE(hub_.error().find("config.json of acme/tiny: has the Git SHA-1 "), std::string::npos);
}

TEST_F(Faults, WrongBytesOfAnEarlierDownloadAreFetchedAgain) {
  error_with({{"break_after", 200000}});
  write_quickly(incomplete(), std::string(600000, 'x'));
  hub_.set_faults({});
  expect_whole();
  EXPECT_EQ(ranges().back(), "");
  // The same with a whole file of wrong bytes, one that is too long, and a truncated blob.
  for (const size_t size : {hub_.weights().size(), hub_.weights().size() + 1}) {
    const fs::path blob = fs::canonical(hub_.snapshot() / "model.safetensors");
    fs::remove(blob);
    write_quickly(blob.string() + ".incomplete", std::string(size, 'x'));
    expect_whole();
  }
  const fs::path blob = fs::canonical(hub_.snapshot() / "model.safetensors");
  fs::resize_file(blob, 10);
  fs::remove(hub_.snapshot() / "model.safetensors");
  expect_whole();
}

TEST_F(Faults, AStallIsContinued) {
  hub_.set_faults({{kWeights, {{"break_after", 1000000}, {"then_stall", 5}, {"times", 2}}}});
  const auto start = Clock::now();
  expect_whole();
  EXPECT_EQ(ranges(), (std::vector<std::string>{"", "bytes=1000000-"}));
  EXPECT_LT(seconds_since(start), 4);
}

TEST_F(Faults, AServerThatStallsForEverFails) {
  const auto start = Clock::now();
  const std::string error = error_with({{"stall", 5}});
  EXPECT_NE(error.find("sent less than 1024 bytes in 0.3 s, 3 times"), std::string::npos) << error;
  EXPECT_LT(seconds_since(start), 4);
  // So does one that sends a few bytes at a time.
  EXPECT_NE(error_with({{"slowly", 20}}).find("sent less than 1024 bytes"), std::string::npos);
}

TEST_F(Faults, TooManyRequestsAreRepeatedWhenTheServerSays) {
  hub_.set_faults({{kWeights, {{"status", 429}, {"headers", {{"Retry-After", 1}}}, {"times", 1}}}});
  const auto start = Clock::now();
  expect_whole();
  EXPECT_GT(seconds_since(start), 0.9);
}

TEST_F(Faults, AnEndlessWaitIsRefused) {
  const auto start = Clock::now();
  const std::string error = error_with({{"status", 429}, {"headers", {{"Retry-After", 3600}}}});
  EXPECT_NE(error.find("the server asks to wait for 3600 s"), std::string::npos) << error;
  EXPECT_LT(seconds_since(start), 2);
}

TEST_F(Faults, AServerInTroubleIsAskedAgain) {
  for (const int status : {408, 500, 502, 503, 504}) {
    hub_.set_faults({{"/revision/main", {{"status", status}}}});
    const size_t before = hub_.requests("/revision/main").size();
    EXPECT_NE(hub_.error().find(fmt::format("HTTP status {}, 3 times", status)), std::string::npos);
    EXPECT_EQ(hub_.requests("/revision/main").size(), before + 3);
  }
  hub_.set_faults({{"/tokenizer.json", {{"status", 503}, {"times", 2}}}});
  expect_whole();
}

TEST_F(Faults, OtherStatusesAreFinal) {
  for (const int status : {400, 401, 403, 404, 410, 451, 501}) {
    const size_t before = hub_.requests(kWeights).size();
    EXPECT_NE(error_with({{"status", status}}).find(fmt::format("HTTP status {}", status)),
              std::string::npos);
    EXPECT_EQ(hub_.requests(kWeights).size(), before + 1);
  }
}

TEST_F(Faults, RedirectsEndSomewhere) {
  EXPECT_NE(error_with({{"redirect", "/acme/tiny/resolve/x/model.safetensors"}}).find("redirects"),
            std::string::npos);
  for (const char* target : {"file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/x"})
    EXPECT_NE(error_with({{"redirect", target}}), "no error") << target;
}

TEST_F(Faults, EndlessHeadersAreRefused) {
  const std::string error = error_with({{"endless_headers", true}});
  EXPECT_NE(error.find("headers"), std::string::npos) << error;
}

TEST_F(Faults, ADamagedListingIsRefused) {
  hub_.set_faults({{"/revision/main", {{"listing", {{"sha", kCommit}}}}}});
  EXPECT_EQ(
      hub_.error(),
      "the list of files of acme/tiny: siblings, the list of files, is missing or not a list");
  EXPECT_FALSE(fs::exists(hub_.cached()));
}

TEST_F(Faults, AFileThatIsLargerThanTheDiskIsRefusedAtOnce) {
  const nlohmann::json config = {
      {"rfilename", "config.json"}, {"size", 2}, {"blobId", std::string(40, 'a')}};
  nlohmann::json large = config;
  large["rfilename"] = "model.safetensors";
  large["size"] = int64_t{1} << 44;
  hub_.set_faults(
      {{"/revision/main", {{"listing", {{"sha", kCommit}, {"siblings", {config, large}}}}}}});
  EXPECT_NE(hub_.error().find("17592.186 GB are to be downloaded, "), std::string::npos)
      << hub_.error();
}

TEST_F(Faults, ACancelledDownloadStopsAtOnceAndIsContinued) {
  hub_.set_faults({{kWeights, {{"break_after", 500000}, {"then_stall", 5}}}});
  HubOptions options = hub_.options();
  options.timeouts.stall = std::chrono::milliseconds(60000);
  Clock::time_point asked;
  options.cancelled = [&] {
    std::error_code none;
    const bool partly = fs::exists(hub_.cached() / "blobs", none) && !incomplete().empty() &&
                        fs::file_size(incomplete(), none) == 500000;
    if (partly) asked = Clock::now();
    return partly;
  };
  expect_error([&] { resolve_model("acme/tiny", options); },
               "the download was stopped; the next one continues it");
  EXPECT_LT(seconds_since(asked), 0.1);
  hub_.set_faults({});
  expect_whole();
  EXPECT_EQ(ranges().back(), "bytes=500000-");
}

TEST_F(Faults, ACancelledRequestAboutACachedModelIsAnError) {
  hub_.resolve();
  fs::remove_all(hub_.cached() / ".no_exist");
  HubOptions options = hub_.options();
  options.cancelled = [] { return true; };
  expect_error([&] { resolve_model("acme/tiny", options); }, "the download was stopped");
}

TEST_F(Faults, AKilledDownloadIsContinued) {
  hub_.set_faults({{kWeights, {{"slowly", 100000}}}});
  HubOptions options = hub_.options();
  for (int i = 0; i < 8; ++i) {
    kill_while(
        [&](int turn) {
          if (turn == 0) resolve_model("acme/tiny", options);
        },
        std::chrono::milliseconds(30 + 60 * i));
    const fs::path weights = hub_.snapshot() / "model.safetensors";
    EXPECT_TRUE(!fs::exists(weights) || read_file(weights) == hub_.weights());
  }
  hub_.set_faults({});
  expect_whole();
  EXPECT_NE(ranges().back(), "");
}

TEST_F(Faults, TwoProcessesDownloadAModelOnce) {
  hub_.set_faults({{kWeights, {{"slowly", 200000}}}});
  std::atomic<bool> waited{false};
  const auto download = [&] {
    HubOptions options = hub_.options();
    options.on_progress = [&](const DownloadProgress& progress) {
      if (progress.waiting) waited = true;
    };
    EXPECT_EQ(resolve_model("acme/tiny", options), hub_.snapshot());
  };
  std::thread other(download);
  download();
  other.join();
  EXPECT_EQ(ranges().size(), 1u);
  EXPECT_TRUE(waited);
  EXPECT_EQ(read_file(hub_.snapshot() / "model.safetensors"), hub_.weights());
}

}  // namespace
}  // namespace heed::hub
