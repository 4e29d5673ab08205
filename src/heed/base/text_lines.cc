#include "heed/base/text_lines.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "heed/base/byte_order_mark.h"
#include "heed/base/error.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

struct FreeBuffer {
  void operator()(char* buffer) const { std::free(buffer); }
};

}  // namespace

void for_each_line(const std::filesystem::path& path,
                   const std::function<void(std::string_view line, size_t number)>& visit) {
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
    if (!is_valid_utf8(line)) require_utf8(line, fmt::format("{} line {}", path.string(), number));
    visit(line, number);
    raw = buffer.release();
  }
  const int problem = errno;
  std::free(raw);
  require(std::ferror(file.get()) == 0 && problem == 0, "{}: cannot be read: {}", path.string(),
          std::strerror(problem));
  require(number > 0, "{} is empty, expected lines of text", path.string());
}

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  for_each_line(path, [&](std::string_view line, size_t) { lines.emplace_back(line); });
  return lines;
}

}  // namespace heed
