#include "heed/io/mapped_pages.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "heed/base/rounding.h"
#include "heed/base/system.h"

namespace heed::io {
namespace {

constexpr uintptr_t kLargePage = uintptr_t{2} << 20;

void advise(uintptr_t begin, uintptr_t end, PageAdvice advice) {
  if (begin < end) advise_pages(reinterpret_cast<void*>(begin), end - begin, advice);
}

}  // namespace

void release_pages(std::span<const std::byte> file, size_t begin, size_t end) {
  if (begin == end) return;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto base = reinterpret_cast<uintptr_t>(file.data());
  const uintptr_t first = base + begin, last = base + end;
  advise(std::max(base, first / kLargePage * kLargePage),
         std::min(round_up(base + file.size(), page), round_up(last, kLargePage)),
         PageAdvice::release);
  advise(round_up(first, kLargePage), last / kLargePage * kLargePage, PageAdvice::small_pages);
}

}  // namespace heed::io
