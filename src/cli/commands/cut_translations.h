#pragma once

#include <cstdint>
#include <string>

#include "cli/terminal/warnings.h"
#include "heed/translation.h"

namespace heed::cli {

/// The translations that the length limit cut off. Texts far longer than those of the training
/// often make a model repeat itself without an end.
class CutTranslations {
 public:
  void add(const Translation& translation, int64_t number) {
    if (translation.candidates.empty() || translation.candidates.front().hypothesis.complete)
      return;
    constexpr int64_t kMostNamed = 10;
    if (count_ < kMostNamed) named_ += fmt::format("{}{}", count_ > 0 ? ", " : "", number);
    if (count_ == kMostNamed) named_ += ", ...";
    ++count_;
  }

  /// `what` is "lines" or "sentences".
  void warn(const char* what, const char* remedy) const {
    if (count_ == 0) return;
    print_message(
        fmt::format("warning: {} of the translations reached the limit of tokens and may be loops "
                    "({} {}): {}",
                    count_, what, named_, remedy));
  }

 private:
  int64_t count_ = 0;
  std::string named_;
};

}  // namespace heed::cli
