#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "heed/base/file.h"
#include "heed/base/random.h"
#include "tests/base/child.h"
#include "tests/base/testing.h"

namespace {
bool can_exchange = true;
}

/// Overrides the C library's function to simulate a file system without RENAME_EXCHANGE.
extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned flags) noexcept {
  if (!can_exchange) {
    errno = EINVAL;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

namespace heed {
namespace {

namespace fs = std::filesystem;

class ReplaceDirectory : public testing::TestWithParam<bool> {
 protected:
  ReplaceDirectory() { can_exchange = GetParam(); }
  ~ReplaceDirectory() override { can_exchange = true; }

  /// A directory with three files that hold `version`.
  fs::path fresh(const std::string& version) const {
    const fs::path path = folder_ / "fresh";
    fs::remove_all(path);
    fs::create_directory(path);
    for (const char* name : {"a", "b", "c"}) write_file_atomically(path / name, version);
    return path;
  }

  std::string found() const {
    const std::string a = read_file(target_ / "a");
    EXPECT_EQ(read_file(target_ / "b"), a);
    EXPECT_EQ(read_file(target_ / "c"), a);
    return a;
  }

  const TemporaryDirectory folder_;
  const fs::path target_ = folder_ / "target";
};

INSTANTIATE_TEST_SUITE_P(FileSystems, ReplaceDirectory, testing::Values(true, false),
                         [](const auto& test) { return test.param ? "Exchange" : "NoExchange"; });

TEST_P(ReplaceDirectory, CreatesTheTarget) {
  replace_directory(fresh("1"), target_);
  EXPECT_EQ(found(), "1");
  EXPECT_FALSE(path_exists(folder_ / "fresh"));
}

TEST_P(ReplaceDirectory, ReplacesTheTargetAndRemovesTheOldDirectory) {
  replace_directory(fresh("1"), target_);
  write_file_atomically(target_ / "stale", "");
  replace_directory(fresh("2"), target_ / "");
  EXPECT_EQ(found(), "2");
  EXPECT_FALSE(path_exists(target_ / "stale"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

TEST_P(ReplaceDirectory, RejectsATargetThatIsNotADirectory) {
  write_file_atomically(target_, "precious");
  expect_error([&] { replace_directory(fresh("1"), target_); }, "is not a directory");
  EXPECT_EQ(read_file(target_), "precious");
}

TEST_P(ReplaceDirectory, KeepsTheTargetWhenTheNewDirectoryIsAbsent) {
  replace_directory(fresh("1"), target_);
  expect_error([&] { replace_directory(folder_ / "absent", target_); }, "absent");
  EXPECT_EQ(found(), "1");
}

TEST_P(ReplaceDirectory, TargetIsCompleteWhenTheWriterIsKilled) {
  const CounterRandom random(2);
  replace_directory(fresh("first"), target_);
  for (uint64_t attempt = 0; attempt < 20; ++attempt) {
    kill_while([&](int turn) { replace_directory(fresh(std::to_string(turn)), target_); },
               std::chrono::microseconds(1000 + random.below(attempt, 40000)));
    // With RENAME_EXCHANGE the target exists even before finish_replacement().
    ASSERT_TRUE(!GetParam() || path_exists(target_)) << "attempt " << attempt;
    finish_replacement(target_);
    ASSERT_FALSE(found().empty()) << "attempt " << attempt;
  }
}

TEST_P(ReplaceDirectory, RemovesWhatAnInterruptedReplacementLeft) {
  replace_directory(fresh("1"), target_);
  fs::rename(target_, folder_ / "target.old");  // the first half
  replace_directory(fresh("2"), target_);
  EXPECT_EQ(found(), "2");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

TEST(FinishReplacement, RestoresTheOldDirectory) {
  const TemporaryDirectory folder;
  fs::create_directory(folder / "target.old");
  finish_replacement(folder / "target");
  EXPECT_TRUE(path_exists(folder / "target"));
  fs::create_directory(folder / "target.old");
  finish_replacement(folder / "target");
  EXPECT_TRUE(path_exists(folder / "target.old"));
}

}  // namespace
}  // namespace heed
