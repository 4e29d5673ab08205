#include "cli/terminal/status_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace heed::cli {
namespace {

constexpr double kTerminalInterval = 0.2;  // seconds
constexpr double kPlainInterval = 15;

}  // namespace

StatusLine::StatusLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

bool StatusLine::is_due(double seconds) {
  if (seconds - last_shown_ < (terminal_ ? kTerminalInterval : kPlainInterval)) return false;
  last_shown_ = seconds;
  return true;
}

void StatusLine::show(const std::string& line) {
  if (!terminal_) return print(line);
  clear();
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  open_ = true;
}

void StatusLine::print(const std::string& line) {
  clear();
  std::fputs((line + "\n").c_str(), stderr);
}

void StatusLine::clear() {
  if (open_) std::fputs("\r\033[K", stderr);
  open_ = false;
}

std::string progress_bar(int64_t done, int64_t planned) {
  constexpr int kWidth = 20;
  if (planned <= 0) return "";
  const double share = static_cast<double>(done) / static_cast<double>(planned);
  const int full = std::min(kWidth, static_cast<int>(kWidth * share));
  std::string text = "[";
  for (int i = 0; i < kWidth; ++i) text += i < full ? "=" : (i == full ? ">" : " ");
  return text + "] ";
}

}  // namespace heed::cli
