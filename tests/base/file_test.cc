#include "heed/base/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/base/child.h"
#include "tests/base/testing.h"

namespace heed {
namespace {

TEST(ReadFile, ReturnsEveryByte) {
  const TemporaryDirectory folder;
  const std::string contents("a\0b\r\n\xff", 6);
  write_file_atomically(folder / "file", contents);
  EXPECT_EQ(read_file(folder / "file"), contents);
  write_file_atomically(folder / "file", "");
  EXPECT_EQ(read_file(folder / "file"), "");
}

TEST(ReadFile, ReadsFilesThatReportNoSize) {
  EXPECT_NE(read_file("/proc/self/status").find("Pid:"), std::string::npos);
}

TEST(ReadFile, ReportsTheSystemsReason) {
  const TemporaryDirectory folder;
  const std::string path = (folder / "absent").string();
  expect_error([&] { read_file(path); }, path + ": cannot be opened: No such file or directory");
}

TEST(ReadFile, RejectsDirectoriesDevicesAndPipes) {
  const TemporaryDirectory folder;
  expect_error([&] { read_file(folder.path()); }, "is a directory, expected a file");
  expect_error([] { read_file("/dev/zero"); }, "/dev/zero: is not a regular file");
  const std::filesystem::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_error([&] { read_file(pipe); }, "is not a regular file");
}

TEST(ReadFile, ReportsAFileTooLargeForMemory) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "sparse", "");
  if (kSanitized || ::truncate((folder / "sparse").c_str(), int64_t{1} << 40) != 0)
    GTEST_SKIP() << "needs a sparse file of 1 TiB, and a limit on the address space";
  const std::string found = in_child([&] {
    const rlimit limit{1 << 30, 1 << 30};
    ::setrlimit(RLIMIT_AS, &limit);
    return error_of([&] { read_file(folder / "sparse"); });
  });
  EXPECT_EQ(found, (folder / "sparse").string() + ": 1099511627776 bytes do not fit into memory");
}

TEST(MappedFile, HoldsTheFilesContents) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "file", "heed");
  const auto file = MappedFile::open(folder / "file");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()),
            "heed");
}

TEST(MappedFile, OfAnEmptyFileIsEmpty) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "file", "");
  EXPECT_TRUE(MappedFile::open(folder / "file")->bytes().empty());
}

TEST(MappedFile, DoesNotWriteToTheFile) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "file", "heed");
  const auto file = MappedFile::open(folder / "file");
  file->bytes()[0] = std::byte{'n'};
  EXPECT_EQ(read_file(folder / "file"), "heed");
}

TEST(MappedFile, StaysValidWhenTheFileIsReplaced) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "file", std::string(100000, 'a'));
  const auto file = MappedFile::open(folder / "file");
  write_file_atomically(folder / "file", "b");
  EXPECT_EQ(file->bytes().size(), 100000u);
  EXPECT_EQ(file->bytes().back(), std::byte{'a'});
}

TEST(MappedFile, RejectsDirectoriesDevicesAndAbsentFiles) {
  const TemporaryDirectory folder;
  expect_error([&] { MappedFile::open(folder.path()); }, "is a directory, expected a file");
  expect_error([&] { MappedFile::open(folder / "absent"); }, "No such file or directory");
  expect_error([] { MappedFile::open("/dev/null"); }, "is not a regular file");
}

TEST(PathExists, NeverThrows) {
  EXPECT_TRUE(path_exists("/"));
  EXPECT_FALSE(path_exists("/absent"));
  EXPECT_FALSE(path_exists(std::string(10000, 'x')));
}

TEST(RequireWritable, FailsBeforeAnythingIsWritten) {
  const TemporaryDirectory folder;
  for (const char* path : {"file", "directory/", "some/where/new"})
    EXPECT_NO_THROW(require_writable(folder / path)) << path;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  write_quickly(folder / "file", "");
  expect_error(
      [&] { require_writable(folder / "file/below"); },
      "file/below: cannot be written: " + (folder / "file").string() + " is not a directory");
}

TEST(RemoveTree, RemovesEverythingAndAcceptsMissingPaths) {
  const TemporaryDirectory folder;
  std::filesystem::create_directories(folder / "a/b");
  write_quickly(folder / "a/b/file", "");
  remove_tree(folder / "a");
  EXPECT_FALSE(path_exists(folder / "a"));
  remove_tree(folder / "a");
}

TEST(SyncFile, RequiresAFile) {
  const TemporaryDirectory folder;
  write_quickly(folder / "file", "heed");
  sync_file(folder / "file");
  expect_error([&] { sync_file(folder / "absent"); }, "No such file or directory");
}

TEST(PathIs, DistinguishesDirectoriesFromFiles) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "file", "x");
  std::filesystem::create_symlink("file", folder / "link");
  EXPECT_TRUE(path_is_directory(folder.path()));
  EXPECT_FALSE(path_is_file(folder.path()));
  for (const char* name : {"file", "link"}) {
    EXPECT_TRUE(path_is_file(folder / name));
    EXPECT_FALSE(path_is_directory(folder / name));
  }
  EXPECT_FALSE(path_is_file(folder / "absent"));
  EXPECT_FALSE(path_is_directory(folder / "absent"));
}

TEST(PathIs, ReportsTheSystemsReason) {
  const TemporaryDirectory folder;
  std::filesystem::create_symlink("loop", folder / "loop");
  const std::string loop = (folder / "loop").string(), name(300, 'x');
  expect_error([&] { path_is_directory(loop); }, loop + ": Too many levels of symbolic links");
  expect_error([&] { path_is_file(name); }, name + ": File name too long");
}

TEST(SyncDirectory, TreatsAnEmptyNameAsTheCurrentDirectory) {
  sync_directory("");
  expect_error([] { sync_directory("/absent"); }, "/absent: cannot be opened");
}

}  // namespace
}  // namespace heed
