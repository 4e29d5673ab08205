#include "heed/tensor/allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/base/testing.h"

namespace heed {
namespace {

TEST(Allocator, GivesAlignedMemoryOfAtLeastTheSize) {
  for (size_t bytes = 0; bytes < 10000000; bytes = bytes * 5 / 4 + 1) {
    const auto block = allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.get()) % 64, 0u) << bytes;
    std::memset(block.get(), 1, bytes);  // AddressSanitizer watches
  }
}

TEST(Allocator, WastesAtMostAnEighth) {
  for (size_t bytes = 512; bytes < 100000000; bytes = bytes * 5 / 4 + 1) {
    const size_t before = allocated_bytes();
    const auto block = allocate(bytes);
    EXPECT_GE(allocated_bytes() - before, bytes);
    EXPECT_LE(allocated_bytes() - before, bytes + bytes / 8) << bytes;
  }
}

TEST(Allocator, UsesABlockAgain) {
  const std::byte* first = allocate(100000).get();
  EXPECT_EQ(allocate(100000).get(), first);
  EXPECT_EQ(allocate(99000).get(), first) << "nearly the same size is of the same class";
  release_free_memory();
}

TEST(Allocator, UsesALittleLargerBlockAgain) {
  release_free_memory();
  const std::byte* first = allocate(100000).get();
  EXPECT_EQ(allocate(80000).get(), first) << "as batches shrink";
  EXPECT_NE(allocate(10000).get(), first) << "but not for anything";
  EXPECT_EQ(allocate(100000).get(), first) << "which keeps its size";
  release_free_memory();
}

TEST(Allocator, CountsWhatIsInUse) {
  const size_t before = allocated_bytes();
  reset_peak_allocated_bytes();
  {
    const auto one = allocate(1 << 20), two = allocate(1 << 20);
    EXPECT_EQ(allocated_bytes(), before + (2 << 20));
  }
  const auto three = allocate(1 << 20);
  EXPECT_EQ(allocated_bytes(), before + (1 << 20));
  EXPECT_EQ(peak_allocated_bytes(), before + (2 << 20));
  reset_peak_allocated_bytes();
  EXPECT_EQ(peak_allocated_bytes(), before + (1 << 20));
}

TEST(Allocator, RefusesWhatNoMachineHas) {
  const size_t before = allocated_bytes();
  for (const size_t bytes : {size_t{1} << 60, ~size_t{0}})
    expect_error([&] { allocate(bytes); }, "out of memory");
  EXPECT_EQ(allocated_bytes(), before);
}

TEST(Allocator, ServesSeveralThreads) {
  const size_t before = allocated_bytes();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([thread] {
      for (size_t i = 0; i < 2000; ++i) {
        const auto block = allocate(100 + i % 7 * 1000);
        std::memset(block.get(), thread, 100);
        EXPECT_EQ(block.get()[99], static_cast<std::byte>(thread));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allocated_bytes(), before);
}

}  // namespace
}  // namespace heed
