#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

namespace heed {

/// A child process that runs `body`. Changes to the process (limits, mounts, signal handlers) end
/// with it. To be started while no other thread works, whose locks the child would hold for ever.
class Child {
 public:
  explicit Child(const std::function<std::string()>& body) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    child_ = ::fork();
    if (child_ == 0) {
      std::string text;
      try {
        text = body();
      } catch (const std::exception& error) {
        text = error.what();
      }
      const bool sent = ::write(ends[1], text.data(), text.size()) >= 0;
      ::_exit(sent ? 0 : 1);
    }
    ::close(ends[1]);
    output_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// What `body` returned; waits for it. To be called once.
  std::string result() {
    if (output_ < 0) return "no pipe";
    std::string text;
    char buffer[4096];
    for (ssize_t count; (count = ::read(output_, buffer, sizeof(buffer))) > 0;)
      text.append(buffer, static_cast<size_t>(count));
    ::close(output_);
    int status = 0;
    ::waitpid(child_, &status, 0);
    return WIFEXITED(status) ? text : "the child died: " + text;
  }

 private:
  pid_t child_ = -1;
  int output_ = -1;
};

/// Runs `body` in a child process and returns its result.
inline std::string in_child(const std::function<std::string()>& body) {
  return Child(body).result();
}

/// Whether the system can start this program. Under an emulator it may not know the architecture.
inline bool can_start_itself() {
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    ::close(STDOUT_FILENO);
    ::execl(self.c_str(), self.c_str(), "--gtest_list_tests", nullptr);
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Starts a child process that calls body(0), body(1), ... and kills it after `lifetime`.
inline void kill_while(const std::function<void(int)>& body, std::chrono::microseconds lifetime) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      for (int turn = 0;; ++turn) body(turn);
    } catch (...) {
      ::_exit(1);
    }
  }
  std::this_thread::sleep_for(lifetime);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
}

}  // namespace heed
