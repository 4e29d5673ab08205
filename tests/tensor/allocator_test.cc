#include "heed/tensor/allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "heed/base/random.h"
#include "tests/base/testing.h"

namespace heed {
namespace {

TEST(Allocator, GivesAlignedMemoryOfAtLeastTheSize) {
  for (size_t bytes = 0; bytes < 10000000; bytes = bytes * 5 / 4 + 1) {
    const auto block = allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.get()) % 64, 0u) << bytes;
    std::memset(block.get(), 1, bytes);  // AddressSanitizer reports an overflow
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

TEST(Allocator, ReusesABlock) {
  const std::byte* first = allocate(100000).get();
  EXPECT_EQ(allocate(100000).get(), first);
  EXPECT_EQ(allocate(99000).get(), first) << "nearly equal sizes share a class";
  release_free_memory();
}

TEST(Allocator, ReusesASlightlyLargerBlock) {
  release_free_memory();
  const std::byte* first = allocate(100000).get();
  EXPECT_EQ(allocate(80000).get(), first) << "a slightly smaller request reuses the block";
  EXPECT_NE(allocate(10000).get(), first) << "a much smaller request takes another block";
  EXPECT_EQ(allocate(100000).get(), first) << "the block keeps its size";
  release_free_memory();
}

TEST(Allocator, LargeBlocksOfAnySizeReuseTheSameMemory) {
  release_free_memory();
  constexpr size_t kMegabyte = 1 << 20;
  const std::byte* lowest = nullptr;
  {
    const auto one = allocate(3 * kMegabyte), two = allocate(5 * kMegabyte),
               three = allocate(4 * kMegabyte);
    lowest = std::min({one.get(), two.get(), three.get()});
  }
  const auto all = allocate(12 * kMegabyte);
  EXPECT_EQ(all.get(), lowest) << "free neighbours are merged";
}

TEST(Allocator, BlocksDoNotOverlap) {
  struct Marked {
    std::shared_ptr<std::byte> block;
    size_t size = 0;
  };
  const CounterRandom random(7);
  std::vector<Marked> all(40);
  for (uint64_t i = 0; i < 500; ++i) {
    const size_t which = random.bits(2 * i) % all.size();
    const auto mark = static_cast<std::byte>(which);
    Marked& one = all[which];
    for (size_t at = 0; at < one.size; at += 64) ASSERT_EQ(one.block.get()[at], mark);
    one.block.reset();
    one.size = size_t{1} << (random.bits(2 * i + 1) % 22);
    one.block = allocate(one.size);
    std::memset(one.block.get(), static_cast<int>(which), one.size);
  }
}

TEST(Allocator, CountsReservations) {
  const size_t before = allocated_bytes();
  {
    Reservation room(1000);
    EXPECT_EQ(allocated_bytes(), before + 1000);
    Reservation moved = std::move(room);
    EXPECT_EQ(allocated_bytes(), before + 1000);
    moved = Reservation(300);
    const Reservation copy = moved;
    EXPECT_EQ(allocated_bytes(), before + 600);
  }
  EXPECT_EQ(allocated_bytes(), before);
}

TEST(Allocator, ServesContainers) {
  const size_t before = allocated_bytes();
  {
    std::pmr::vector<int> numbers(&pool_resource());
    for (int i = 0; i < 10000; ++i) numbers.push_back(i);
    EXPECT_EQ(numbers[9999], 9999);
    EXPECT_GE(allocated_bytes(), before + 10000 * sizeof(int));
    void* const line = pool_resource().allocate(3, 64);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(line) % 64, 0u);
    pool_resource().deallocate(line, 3, 64);
    expect_error([] { std::ignore = pool_resource().allocate(4096, 4096); }, "aligned to 4096");
  }
  EXPECT_EQ(allocated_bytes(), before);
}

TEST(Allocator, CountsBytesInUse) {
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

TEST(Allocator, RefusesSizesBeyondAnyMachinesMemory) {
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
