#include "heed/base/text_lines.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "heed/base/byte_order_mark.h"
#include "heed/base/error.h"
#include "heed/base/utf8.h"

namespace heed {

struct LineReader::File {
  std::filesystem::path path;
  std::FILE* stream = nullptr;
  char* buffer = nullptr;  // of getline()
  size_t capacity = 0;

  ~File() {
    std::free(buffer);
    if (stream != nullptr) std::fclose(stream);
  }
};

LineReader::LineReader(const std::filesystem::path& path) : file_(std::make_unique<File>()) {
  file_->path = path;
  errno = 0;
  file_->stream = std::fopen(path.c_str(), "rb");
  require(file_->stream != nullptr, "{}: cannot be opened: {}", path.string(),
          std::strerror(errno));
}

LineReader::~LineReader() = default;
LineReader::LineReader(LineReader&&) noexcept = default;

std::optional<std::string_view> LineReader::next() {
  errno = 0;
  const ssize_t length = ::getline(&file_->buffer, &file_->capacity, file_->stream);
  if (length < 0) {
    const int problem = errno;
    require(std::ferror(file_->stream) == 0 && problem == 0, "{}: cannot be read: {}",
            file_->path.string(), std::strerror(problem));
    require(number_ > 0, "{} is empty, expected lines of text", file_->path.string());
    return std::nullopt;
  }
  ++number_;
  std::string_view line(file_->buffer, static_cast<size_t>(length));
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (number_ == 1) line = without_byte_order_mark(line);
  if (!is_valid_utf8(line))
    require_utf8(line, fmt::format("{} line {}", file_->path.string(), number_));
  return line;
}

void for_each_line(const std::filesystem::path& path,
                   const std::function<void(std::string_view line, size_t number)>& visit) {
  LineReader lines(path);
  while (const auto line = lines.next()) visit(*line, lines.number());
}

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  for_each_line(path, [&](std::string_view line, size_t) { lines.emplace_back(line); });
  return lines;
}

}  // namespace heed
