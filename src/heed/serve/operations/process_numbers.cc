#include "heed/serve/operations/process_numbers.h"

#include <sys/resource.h>
#include <unistd.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "heed/tensor/allocator.h"

namespace heed::serve {
namespace {

namespace fs = std::filesystem;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// Fields of /proc/self/stat behind the name of the program, which may contain spaces; the first is
/// number 3 of proc(5).
std::istringstream fields_of_stat() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const size_t end = line.rfind(')');
  return std::istringstream(end == line.npos ? "" : line.substr(end + 1));
}

double boot_time() {
  std::ifstream file("/proc/stat");
  std::string word;
  double seconds = 0;
  while (file >> word)
    if (word == "btime" && file >> seconds) return seconds;
  return 0;
}

/// Files under /proc, which is not everywhere.
void read_proc(ProcessNumbers& numbers) {
  int64_t pages = 0, resident_pages = 0;
  const int64_t page = sysconf(_SC_PAGESIZE);
  if (std::ifstream("/proc/self/statm") >> pages >> resident_pages) {
    numbers.virtual_bytes = pages * page;
    numbers.resident_bytes = resident_pages * page;
  }
  std::istringstream fields = fields_of_stat();
  std::string field;
  for (int number = 3; number <= 22 && fields >> field; ++number) {
    if (number == 20) numbers.threads = std::stoll(field);
    if (number != 22) continue;
    static const double booted = boot_time();
    numbers.start_time_seconds =
        booted + std::stod(field) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  std::error_code error;
  for (fs::directory_iterator entry("/proc/self/fd", error); !error && entry != fs::end(entry);
       entry.increment(error))
    ++numbers.open_files;
}

}  // namespace

ProcessNumbers process_numbers() {
  ProcessNumbers numbers;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0)
    numbers.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0)
    numbers.max_files = static_cast<int64_t>(files.rlim_cur);
  read_proc(numbers);
  return numbers;
}

void return_freed_memory() {
  release_free_memory();
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace heed::serve
