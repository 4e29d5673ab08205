#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "heed/machine_limits.h"

namespace heed {
namespace {

/// The number after `key` in a file with lines "key: number kB"; -1 if there is none.
int64_t kilobytes(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  int64_t value = 0;
  while (file >> word)
    if (word == key && file >> value) return value;
  return -1;
}

int64_t number_in(const std::string& path, int64_t fallback) {
  std::ifstream file(path);
  int64_t value = 0;
  return file >> value ? value : fallback;
}

}  // namespace

int64_t available_memory() {
  int64_t available = std::numeric_limits<int64_t>::max();
  if (const int64_t kb = kilobytes("/proc/meminfo", "MemAvailable:"); kb >= 0)
    available = kb * 1024;
  const int64_t limit = number_in("/sys/fs/cgroup/memory.max", -1);
  const int64_t used = number_in("/sys/fs/cgroup/memory.current", 0);
  if (limit >= 0) available = std::min(available, std::max<int64_t>(limit - used, 0));
  return available;
}

}  // namespace heed
