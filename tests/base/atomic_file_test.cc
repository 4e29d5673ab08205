#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstring>

#include "heed/base/file.h"
#include "heed/base/random.h"
#include "tests/base/child.h"
#include "tests/base/testing.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

size_t entries(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST(AtomicFile, ChangesNothingWithoutCommit) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "file", "old");
  {
    AtomicFile file(folder / "file");
    file.write("new");
    EXPECT_EQ(entries(folder.path()), 2u);
  }
  EXPECT_EQ(read_file(folder / "file"), "old");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(AtomicFile, AppearsWithCommit) {
  const TemporaryDirectory folder;
  AtomicFile file(folder / "file");
  file.write("one ");
  file.write(std::as_bytes(std::span("two", 3)));
  EXPECT_FALSE(path_exists(folder / "file"));
  file.commit();
  EXPECT_EQ(read_file(folder / "file"), "one two");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(AtomicFile, TwoWritersOfOneFileDoNotInterfere) {
  const TemporaryDirectory folder;
  AtomicFile first(folder / "file"), second(folder / "file");
  first.write("first");
  second.write("second");
  first.commit();
  second.commit();
  EXPECT_EQ(read_file(folder / "file"), "second");
}

TEST(AtomicFile, KeepsThePermissionsOfTheOldFile) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "file", "old");
  fs::permissions(folder / "file", fs::perms::owner_read);
  write_file_atomically(folder / "file", "new");
  EXPECT_EQ(fs::status(folder / "file").permissions(), fs::perms::owner_read);
}

TEST(AtomicFile, RespectsTheUmask) {
  const TemporaryDirectory folder;
  const mode_t old = ::umask(077);
  write_file_atomically(folder / "file", "mine");
  ::umask(old);
  EXPECT_EQ(fs::status(folder / "file").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST(AtomicFile, ReplacesALinkRatherThanItsTarget) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "target", "old");
  fs::create_symlink("target", folder / "link");
  write_file_atomically(folder / "link", "new");
  EXPECT_EQ(read_file(folder / "target"), "old");
  EXPECT_EQ(read_file(folder / "link"), "new");
}

TEST(AtomicFile, RejectsPathsItCannotReplace) {
  const TemporaryDirectory folder;
  expect_error([&] { AtomicFile{folder.path()}; }, "is a directory, expected a file");
  expect_error([] { AtomicFile{"/dev/null"}; }, "/dev/null: is not a regular file");
  expect_error([&] { AtomicFile{folder / "absent/file"}; },
               "absent/file: cannot be written: No such file or directory");
  expect_error([&] { AtomicFile{folder / std::string(300, 'x')}; }, "File name too long");
}

/// Writes 4 MiB, which must fail. Returns the error and the state of the directory afterwards.
std::string fill(const fs::path& folder) {
  write_file_atomically(folder / "file", "old");
  const std::string reason = error_of([&] {
    AtomicFile file(folder / "file");
    const std::string block(1 << 16, 'x');
    for (int i = 0; i < 64; ++i) file.write(block);
    file.commit();
  });
  return fmt::format("{}; {}; {} entries", reason, read_file(folder / "file"), entries(folder));
}

TEST(AtomicFile, KeepsTheOldFileWhenTheFileSizeLimitIsReached) {
  const TemporaryDirectory folder;
  const std::string found = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    return fill(folder.path());
  });
  EXPECT_EQ(found,
            (folder / "file").string() + ": cannot be written: File too large; old; 1 entries");
}

TEST(AtomicFile, KeepsTheOldFileWhenTheDiskIsFull) {
  const TemporaryDirectory folder;
  const std::string found = in_child([&]() -> std::string {
    // In its own mount namespace, so that no other process sees the mount.
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
      return fmt::format("skip: no mount namespace: {}", std::strerror(errno));
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (::mount("none", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0)
      return fmt::format("skip: no tmpfs: {}", std::strerror(errno));
    return fill(folder.path());
  });
  if (found.starts_with("skip")) GTEST_SKIP() << found;
  EXPECT_EQ(found, (folder / "file").string() +
                       ": cannot be written: No space left on device; old; 1 entries");
}

std::string version(int number) {
  return std::string(200000, static_cast<char>('a' + number % 26));
}

TEST(AtomicFile, IsAlwaysCompleteWhenTheWriterIsKilled) {
  const TemporaryDirectory folder;
  const CounterRandom random(1);
  write_file_atomically(folder / "file", version(0));
  for (uint64_t attempt = 0; attempt < 30; ++attempt) {
    kill_while([&](int turn) { write_file_atomically(folder / "file", version(turn)); },
               std::chrono::microseconds(500 + random.below(attempt, 30000)));
    const std::string found = read_file(folder / "file");
    ASSERT_EQ(found, version(found.empty() ? 0 : found[0] - 'a')) << "attempt " << attempt;
  }
}

TEST(AtomicFile, TemporariesOfAKilledWriterAreRecognisedByName) {
  const TemporaryDirectory folder;
  kill_while(
      [&](int) {
        AtomicFile file(folder / "file");
        ::pause();
      },
      std::chrono::milliseconds(200));
  ASSERT_EQ(entries(folder.path()), 1u) << "the child was too slow";
  EXPECT_TRUE(is_left_temporary(*fs::directory_iterator(folder.path())));
  const pid_t living = ::getppid();
  for (const std::string& name :
       {fmt::format("file.{}-0.tmp", living), std::string("file.tmp"), std::string("file.-0.tmp"),
        std::string("file.99-.tmp"), std::string("99-0.tmp"), std::string("-.tmp"),
        std::string(".tmp"), std::string("file.99-0.tmp.old")})
    EXPECT_FALSE(is_left_temporary(folder / name)) << name;
}

}  // namespace
}  // namespace heed
