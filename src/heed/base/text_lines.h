#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The lines of a UTF-8 text file, without line ends ("\n" or "\r\n", optional after the last line)
/// and without a leading byte order mark. Throws Error when the file cannot be read, is empty, or,
/// with the line, is not valid UTF-8.
std::vector<std::string> read_lines(const std::filesystem::path& path);

/// Reads these lines one after another, in memory for one of them.
class LineReader {
 public:
  /// Throws Error when the file cannot be opened.
  explicit LineReader(const std::filesystem::path& path);
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line, until the next call; none after the last one. Throws Error as read_lines()
  /// does.
  std::optional<std::string_view> next();
  /// The number of the line that next() returned last; the first one is 1.
  size_t number() const { return number_; }

 private:
  struct File;
  std::unique_ptr<File> file_;
  size_t number_ = 0;
};

/// Calls visit(line, number) for each of them; numbers start at 1.
void for_each_line(const std::filesystem::path& path,
                   const std::function<void(std::string_view line, size_t number)>& visit);

}  // namespace heed
