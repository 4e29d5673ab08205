#include "heed/base/system.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <thread>

#if defined(__linux__) && !defined(__GLIBC__)
#include <sys/syscall.h>
#endif

namespace heed {

int available_processors() {
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

bool exchange_names(const std::filesystem::path& a, const std::filesystem::path& b) {
#if defined(__GLIBC__)
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
#elif defined(__linux__)
  constexpr unsigned kExchange = 2;  // RENAME_EXCHANGE, which musl does not define
  return ::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), kExchange) == 0;
#elif defined(__APPLE__)
  return ::renamex_np(a.c_str(), b.c_str(), RENAME_SWAP) == 0;
#else
  static_cast<void>(a);
  static_cast<void>(b);
  errno = ENOSYS;
  return false;
#endif
}

void advise_pages(void* begin, size_t size, PageAdvice advice) {
  switch (advice) {
    case PageAdvice::release:
      ::madvise(begin, size, MADV_DONTNEED);
      return;
    case PageAdvice::large_pages:
#if defined(MADV_HUGEPAGE)
      ::madvise(begin, size, MADV_HUGEPAGE);
#endif
      return;
    case PageAdvice::small_pages:
#if defined(MADV_NOHUGEPAGE)
      ::madvise(begin, size, MADV_NOHUGEPAGE);
#endif
      return;
  }
}

int64_t level2_cache_bytes() {
#if defined(_SC_LEVEL2_CACHE_SIZE)
  return std::max<int64_t>(0, ::sysconf(_SC_LEVEL2_CACHE_SIZE));
#else
  return 0;
#endif
}

}  // namespace heed
