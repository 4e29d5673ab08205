// Checks the cost of reading hostile files: each must be read, or refused with an Error, in time
// and memory proportional to its size.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "heed/base/display.h"
#include "heed/base/error.h"
#include "tests/base/child.h"
#include "tests/base/testing.h"

namespace heed {

inline constexpr size_t kHostileBytes = size_t{1} << 20;

inline std::string repeated(const std::string& part, size_t count) {
  std::string text;
  text.reserve(part.size() * count);
  for (size_t i = 0; i < count; ++i) text += part;
  return text;
}

/// CPU seconds that this process has used.
inline double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Peak resident memory of this process so far, in megabytes.
inline double peak_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// How many times as long as natively a test may take: under a sanitizer, or under an emulator,
/// which HEED_TEST_SLOWDOWN tells (the test preset aarch64 sets it).
inline double slowdown() {
  const char* emulated = std::getenv("HEED_TEST_SLOWDOWN");
  if (emulated != nullptr) return std::atof(emulated);
  return kSanitized ? 20 : 1;
}

/// Calls `body` in a child process and expects that it ends, normally or with an Error of one short
/// line of printable characters, within `seconds` natively and with at most `megabytes` more memory
/// than before. Returns the text of the Error, or "" when there was none.
inline std::string expect_cheap(const std::function<void()>& body, double seconds = 15,
                                double megabytes = 400) {
  const std::string outcome = in_child([&]() -> std::string {
    // The limits end a child that hangs or allocates without bound. Sanitizers reserve more memory.
    const rlimit time{120, 120}, memory{rlim_t{4} << 30, rlim_t{4} << 30};
    ::setrlimit(RLIMIT_CPU, &time);
    if (!kSanitized) ::setrlimit(RLIMIT_AS, &memory);
    const double start = cpu_seconds(), held = peak_megabytes();
    std::string text;
    try {
      body();
    } catch (const Error& error) {
      text = error.what();
    }
    const double taken = cpu_seconds() - start, grown = peak_megabytes() - held;
    if (taken > slowdown() * seconds) return fmt::format("too slow: {:.1f} s; {}", taken, text);
    if (grown > megabytes && !kSanitized)
      return fmt::format("too large: {:.0f} MB; {}", grown, text);
    return "cheap: " + text;
  });
  EXPECT_TRUE(outcome.starts_with("cheap: ")) << outcome.substr(0, 500);
  const std::string text = outcome.substr(std::min(outcome.find(": ") + 2, outcome.size()));
  EXPECT_LT(text.size(), 1000u);
  for (const char32_t c : code_points(text))
    EXPECT_TRUE(is_printable(c)) << "in: " << text.substr(0, 500);
  return text;
}

/// The same, and expects that the message contains `part`.
inline void expect_cheap_error(const std::function<void()>& body, const std::string& part) {
  const std::string text = expect_cheap(body);
  EXPECT_NE(text.find(part), std::string::npos) << "found:  " << text << "\nwanted: " << part;
}

}  // namespace heed
