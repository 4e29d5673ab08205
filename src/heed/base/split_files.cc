#include "heed/base/split_files.h"

#include <charconv>

#include "heed/base/error.h"

namespace heed {

std::string split_ending(int64_t number, int64_t count) {
  return fmt::format("-{:05}-of-{:05}.gguf", number + 1, count);
}

std::vector<std::string> split_files(const std::string& file) {
  const size_t size = split_ending(0, 1).size();
  if (file.size() <= size) return {file};
  const std::string stem = file.substr(0, file.size() - size), ending = file.substr(stem.size());
  const auto number_at = [&](size_t begin) {
    constexpr size_t kDigits = 5;
    int number = 0;
    std::from_chars(ending.data() + begin, ending.data() + begin + kDigits, number);
    return number;
  };
  const int number = number_at(1), count = number_at(ending.size() - 10);
  if (number < 1 || number > count || ending != split_ending(number - 1, count)) return {file};
  std::vector<std::string> files;
  for (int i = 0; i < count; ++i) files.push_back(stem + split_ending(i, count));
  return files;
}

}  // namespace heed
