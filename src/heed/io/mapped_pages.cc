#include "heed/io/mapped_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "heed/base/rounding.h"

namespace heed::io {
namespace {

constexpr uintptr_t kLargePage = uintptr_t{2} << 20;

/// Errors are ignored: the advice affects only memory use.
void advise(uintptr_t begin, uintptr_t end, int advice) {
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

}  // namespace

void release_pages(std::span<const std::byte> file, size_t begin, size_t end) {
  if (begin == end) return;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto base = reinterpret_cast<uintptr_t>(file.data());
  const uintptr_t first = base + begin, last = base + end;
  advise(std::max(base, first / kLargePage * kLargePage),
         std::min(round_up(base + file.size(), page), round_up(last, kLargePage)), MADV_DONTNEED);
  advise(round_up(first, kLargePage), last / kLargePage * kLargePage, MADV_NOHUGEPAGE);
}

}  // namespace heed::io
