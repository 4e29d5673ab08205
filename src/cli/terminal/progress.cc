#include "cli/terminal/progress.h"

#include <fmt/format.h>

#include "heed/base/duration.h"

namespace heed::cli {

void Progress::step(const StepRecord& r, int64_t planned_steps, double seconds_left) {
  if (!line_.is_due(r.seconds)) return;
  const std::string steps =
      planned_steps > 0 ? fmt::format("{}/{}", r.step, planned_steps) : fmt::format("{}", r.step);
  const std::string left =
      planned_steps > 0 ? fmt::format(", {} left", duration_text(seconds_left)) : "";
  const std::string line =
      fmt::format("{}step {}  loss {:.3f}  gradient {:.2f}  rate {:.2e}  {:.0f} tokens/s{}",
                  line_.on_terminal() ? progress_bar(r.step, planned_steps) : "", steps, r.loss,
                  r.gradient_norm, r.learning_rate, r.tokens_per_second, left);
  line_.show(line);
}

void Progress::log(std::string_view line) { line_.print(std::string(line)); }

}  // namespace heed::cli
