#pragma once

#include <string>

namespace heed::cli {

/// Reads the next line of standard input, without its '\n', and returns true; false at the end.
/// Throws Error, with the system's reason, when standard input cannot be read.
bool read_line(std::string& line);

/// Reads standard input as lines of text, as read_lines() reads a file: without '\r' before
/// the ends of lines, and without a leading byte order mark.
class TextLines {
 public:
  /// As read_line().
  bool next(std::string& line);

 private:
  bool begun_ = false;
};

/// From now on standard input is this file. Throws Error, with the system's reason, when it cannot
/// be read.
void read_as_standard_input(const std::string& path);

/// All of standard input, without a leading byte order mark. Throws Error as read_line() does.
std::string read_standard_input();

}  // namespace heed::cli
