#include "heed/io/gguf/split.h"

#include <algorithm>
#include <string>

#include "heed/base/error.h"
#include "heed/base/split_files.h"

namespace heed::io {
namespace {

constexpr int64_t kMaxFiles = 99999;  // the names have five digits

int64_t number_of(const GgufMetadata& metadata) { return metadata.get_or<int64_t>("split.no", 0); }
int64_t count_of(const GgufMetadata& metadata) {
  return metadata.get_or<int64_t>("split.count", 1);
}

}  // namespace

std::vector<std::filesystem::path> other_split_files(const std::filesystem::path& path,
                                                     const GgufMetadata& metadata) {
  const int64_t number = number_of(metadata), count = count_of(metadata);
  if (count <= 1) return {};
  require(count <= kMaxFiles && number >= 0 && number < count,
          "{}: is file {} of {}, expected 1 to {}", path.string(), number + 1, count,
          std::min(count, kMaxFiles));
  const std::string name = path.string(), own = split_ending(number, count);
  require(name.ends_with(own), "{}: is file {} of {}, expected a name that ends with \"{}\"", name,
          number + 1, count, own);
  const std::vector<std::string> files = split_files(name);
  require(number == 0, "{}: is file {} of {}, expected the first: {}", name, number + 1, count,
          files.front());
  for (size_t other = 1; other < files.size(); ++other)
    require(std::filesystem::exists(files[other]), "{}: file {} of {} is missing", files[other],
            other + 1, count);
  return {files.begin() + 1, files.end()};
}

void check_split_file(const std::filesystem::path& path, const GgufMetadata& metadata,
                      int64_t number, int64_t count) {
  require(number_of(metadata) == number && count_of(metadata) == count,
          "{}: says it is file {} of {}, expected {} of {}", path.string(), number_of(metadata) + 1,
          count_of(metadata), number + 1, count);
}

}  // namespace heed::io
