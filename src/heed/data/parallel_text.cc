#include "heed/data/parallel_text.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "heed/base/byte_order_mark.h"
#include "heed/base/error.h"
#include "heed/text/utf8.h"

namespace heed::data {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

struct FreeBuffer {
  void operator()(char* buffer) const { std::free(buffer); }
};

/// Calls visit(line, number) for each line as specified by read_lines(); numbers start at 1.
template <typename Visit>
void for_each_line(const std::filesystem::path& path, Visit&& visit) {
  errno = 0;
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  require(file != nullptr, "{}: cannot be opened: {}", path.string(), std::strerror(errno));
  char* raw = nullptr;
  size_t capacity = 0;
  size_t number = 0;
  errno = 0;
  for (ssize_t length; (length = ::getline(&raw, &capacity, file.get())) >= 0; errno = 0) {
    // getline() may reallocate the buffer, which must not leak when the code below throws.
    std::unique_ptr<char, FreeBuffer> buffer(raw);
    ++number;
    std::string_view line(raw, static_cast<size_t>(length));
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (number == 1) line = without_byte_order_mark(line);
    if (!text::is_valid_utf8(line))
      text::require_utf8(line, fmt::format("{} line {}", path.string(), number));
    visit(line, number);
    raw = buffer.release();
  }
  const int problem = errno;
  std::free(raw);
  require(std::ferror(file.get()) == 0 && problem == 0, "{}: cannot be read: {}", path.string(),
          std::strerror(problem));
  require(number > 0, "{} is empty, expected lines of text", path.string());
}

}  // namespace

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  for_each_line(path, [&](std::string_view line, size_t) { lines.emplace_back(line); });
  return lines;
}

std::vector<SentencePair> read_parallel(const std::filesystem::path& source_path,
                                        const std::filesystem::path& target_path) {
  std::vector<std::string> sources = read_lines(source_path);
  std::vector<std::string> targets = read_lines(target_path);
  require(sources.size() == targets.size(),
          "{} has {} lines, {} has {}: each line must be the translation of the same line of the "
          "other file",
          source_path.string(), sources.size(), target_path.string(), targets.size());
  std::vector<SentencePair> pairs(sources.size());
  for (size_t i = 0; i < pairs.size(); ++i)
    pairs[i] = {std::move(sources[i]), std::move(targets[i])};
  return pairs;
}

std::vector<SentencePair> read_tsv(const std::filesystem::path& path) {
  std::vector<SentencePair> pairs;
  for_each_line(path, [&](std::string_view line, size_t number) {
    const auto tabs = std::count(line.begin(), line.end(), '\t');
    require(tabs == 1, "{} line {} has {} columns, expected 2: source, tab, target", path.string(),
            number, tabs + 1);
    const size_t tab = line.find('\t');
    pairs.push_back({std::string(line.substr(0, tab)), std::string(line.substr(tab + 1))});
  });
  return pairs;
}

}  // namespace heed::data
