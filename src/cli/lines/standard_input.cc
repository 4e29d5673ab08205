#include "cli/lines/standard_input.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "heed/base/byte_order_mark.h"
#include "heed/base/descriptor.h"

namespace heed::cli {
namespace {

/// Throws Error if a read failed; `reason` is errno after the read.
void require_readable(int reason) {
  require(!std::ferror(stdin), "standard input cannot be read: {}", std::strerror(reason));
}

}  // namespace

bool read_line(std::string& line) {
  errno = 0;
  if (std::getline(std::cin, line)) return true;
  require_readable(errno);
  // std::getline() sets badbit when an allocation fails.
  require(!std::cin.bad(), "standard input has a line that does not fit into memory");
  return false;
}

bool TextLines::next(std::string& line) {
  if (!read_line(line)) return false;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (!begun_) line.erase(0, line.size() - without_byte_order_mark(line).size());
  begun_ = true;
  return true;
}

void read_as_standard_input(const std::string& path) {
  if (!std::freopen(path.c_str(), "r", stdin)) fail_system(path, "cannot be read");
}

std::string read_standard_input() {
  std::string text;
  std::array<char, 1 << 16> buffer;
  errno = 0;
  for (size_t count = 0; (count = std::fread(buffer.data(), 1, buffer.size(), stdin)) > 0;)
    text.append(buffer.data(), count);
  require_readable(errno);
  text.erase(0, text.size() - without_byte_order_mark(text).size());
  return text;
}

}  // namespace heed::cli
