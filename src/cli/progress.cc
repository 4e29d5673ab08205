#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "heed/train/duration.h"

namespace heed::cli {
namespace {

constexpr double kTerminalInterval = 0.2;  // seconds
constexpr double kPlainInterval = 15;

std::string bar(int64_t step, int64_t planned) {
  constexpr int kWidth = 20;
  if (planned <= 0) return "";
  const auto done = static_cast<int>(std::min<int64_t>(kWidth, kWidth * step / planned));
  std::string text = "[";
  for (int i = 0; i < kWidth; ++i) text += i < done ? "=" : (i == done ? ">" : " ");
  return text + "] ";
}

}  // namespace

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::step(const train::StepRecord& r, int64_t planned_steps, double seconds_left) {
  if (r.seconds - last_shown_ < (terminal_ ? kTerminalInterval : kPlainInterval)) return;
  last_shown_ = r.seconds;
  const std::string steps =
      planned_steps > 0 ? fmt::format("{}/{}", r.step, planned_steps) : fmt::format("{}", r.step);
  const std::string left =
      planned_steps > 0 ? fmt::format(", {} left", train::duration_text(seconds_left)) : "";
  const std::string line = fmt::format(
      "{}step {}  loss {:.3f}  gradient {:.2f}  rate {:.2e}  {:.0f} tokens/s  {:.0f}% of peak{}",
      terminal_ ? bar(r.step, planned_steps) : "", steps, r.loss, r.gradient_norm, r.learning_rate,
      r.tokens_per_second, 100 * r.share_of_peak, left);
  if (terminal_) {
    clear();
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
    line_open_ = true;
  } else {
    std::fputs((line + "\n").c_str(), stderr);
  }
}

void Progress::log(const std::string& line) {
  clear();
  std::fputs((line + "\n").c_str(), stderr);
}

void Progress::clear() {
  if (line_open_) std::fputs("\r\033[K", stderr);
  line_open_ = false;
}

}  // namespace heed::cli
