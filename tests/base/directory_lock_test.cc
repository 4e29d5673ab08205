#include "heed/base/directory_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <memory>

#include "heed/base/file.h"
#include "tests/base/child.h"
#include "tests/base/testing.h"

namespace heed {
namespace {

TEST(DirectoryLock, IsGrantedOnceAndNamesTheHolder) {
  const TemporaryDirectory folder;
  const DirectoryLock lock(folder.path());
  const std::string refusal =
      fmt::format("{} is in use by process {}", folder.path().string(), ::getpid());
  expect_error([&] { DirectoryLock{folder.path()}; }, refusal);
  const std::string found =
      in_child([&] { return error_of([&] { DirectoryLock{folder.path()}; }); });
  EXPECT_TRUE(found.starts_with(refusal)) << found;
}

TEST(DirectoryLock, LeavesNoFileBehind) {
  const TemporaryDirectory folder;
  { const DirectoryLock lock(folder.path()); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  { const DirectoryLock again(folder.path()); }
}

TEST(DirectoryLock, EndsWithAProcessThatIsKilled) {
  const TemporaryDirectory folder;
  std::unique_ptr<DirectoryLock> lock;
  kill_while(
      [&](int turn) {
        if (turn == 0) lock = std::make_unique<DirectoryLock>(folder.path());
        ::pause();
      },
      std::chrono::milliseconds(200));
  EXPECT_TRUE(path_exists(folder / DirectoryLock::kFile)) << "the child was to be killed";
  { const DirectoryLock again(folder.path()); }
  EXPECT_FALSE(path_exists(folder / DirectoryLock::kFile));
}

TEST(DirectoryLock, RefusesAMissingDirectory) {
  expect_error([] { DirectoryLock{"/absent"}; }, "/absent: cannot be written: No such file");
}

/// Takes and releases the lock many times; "" unless two processes held it at once.
std::string contend(const TemporaryDirectory& folder) {
  for (int taken = 0; taken < 300;) {
    try {
      const DirectoryLock lock(folder.path());
      const Descriptor mark(::open((folder / "mark").c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600));
      if (mark.get() < 0) return "two processes have the lock";
      ::unlink((folder / "mark").c_str());
      ++taken;
    } catch (const Error&) {
    }
  }
  return "";
}

TEST(DirectoryLock, IsNeverHeldTwiceWhileItsFileIsCreatedAndRemoved) {
  const TemporaryDirectory folder;
  Child first([&] { return contend(folder); }), second([&] { return contend(folder); });
  EXPECT_EQ(first.result(), "");
  EXPECT_EQ(second.result(), "");
}

}  // namespace
}  // namespace heed
