#include "heed/serve/operations/process_numbers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <memory>

#include "heed/base/sanitizer.h"
#include "heed/tensor/allocator.h"

namespace heed::serve {
namespace {

#if defined(__linux__)
TEST(ProcessNumbers, AreThoseOfThisProcess) {
  const ProcessNumbers numbers = process_numbers();
  EXPECT_GT(numbers.resident_bytes, 1 << 20);
  EXPECT_GE(numbers.virtual_bytes, numbers.resident_bytes);
  EXPECT_GT(numbers.cpu_seconds, 0);
  EXPECT_GE(numbers.open_files, 3);
  EXPECT_GE(numbers.max_files, numbers.open_files);
  EXPECT_GE(numbers.threads, 1);
  const auto now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch());
  EXPECT_NEAR(numbers.start_time_seconds, now.count(), 24 * 3600);
  EXPECT_LT(numbers.start_time_seconds, now.count() + 2);
}

TEST(ProcessNumbers, FallWhenFreedMemoryIsReturned) {
  constexpr size_t kBytes = size_t{64} << 20;
  auto block = allocate(kBytes);
  std::memset(block.get(), 1, kBytes);
  const int64_t used = process_numbers().resident_bytes;
  block.reset();
  return_freed_memory();
  EXPECT_LT(process_numbers().resident_bytes, used - static_cast<int64_t>(kBytes / 2));
}
#endif

}  // namespace
}  // namespace heed::serve
