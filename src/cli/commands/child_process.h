#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/descriptor.h"

namespace heed::cli {

/// A program that was started, in a process group of its own so that Ctrl-C does not reach it. It
/// reads nothing; what it writes to standard error comes as lines. The destructor kills it.
class ChildProcess {
 public:
  /// Throws Error when the program cannot be started.
  explicit ChildProcess(const std::vector<std::string>& command);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

  /// The lines that arrive within `wait`; returns as soon as there is one.
  std::vector<std::string> lines(std::chrono::milliseconds wait);
  /// Its exit status once it has ended; 128 + the signal if one has ended it.
  std::optional<int> status();
  void signal(int number) const;
  /// Ends it and what it has started in its process group, by SIGKILL.
  void kill();

 private:
  pid_t process_ = -1;
  Descriptor errors_;
  std::string unfinished_;  // line
  std::optional<int> status_;
};

}  // namespace heed::cli
