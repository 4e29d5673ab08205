#include "heed/base/file_lock.h"

#include <gtest/gtest.h>

#include "tests/base/testing.h"

namespace heed {
namespace {

TEST(FileLock, IsHeldUntilTheFileIsClosed) {
  const TemporaryDirectory folder;
  std::optional<Descriptor> held = try_lock_file(folder / "lock");
  ASSERT_TRUE(held);
  EXPECT_FALSE(try_lock_file(folder / "lock"));
  Descriptor holder;
  EXPECT_FALSE(try_lock_file(folder / "lock", &holder));
  EXPECT_GE(holder.get(), 0);
  held.reset();
  EXPECT_TRUE(try_lock_file(folder / "lock"));
}

TEST(FileLock, IsAskedForWithoutBeingTaken) {
  const TemporaryDirectory folder;
  EXPECT_FALSE(is_locked(folder / "lock"));
  EXPECT_FALSE(std::filesystem::exists(folder / "lock"));
  std::optional<Descriptor> held = try_lock_file(folder / "lock");
  EXPECT_TRUE(is_locked(folder / "lock"));
  held.reset();
  EXPECT_FALSE(is_locked(folder / "lock"));
  EXPECT_TRUE(try_lock_file(folder / "lock"));
}

TEST(FileLock, IsNotFooledByAFileThatItsHolderRemoved) {
  const TemporaryDirectory folder;
  const std::optional<Descriptor> held = try_lock_file(folder / "lock");
  std::filesystem::remove(folder / "lock");
  EXPECT_TRUE(try_lock_file(folder / "lock"));
}

}  // namespace
}  // namespace heed
