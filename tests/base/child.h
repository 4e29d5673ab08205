#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <functional>
#include <string>
#include <thread>

namespace heed {

/// Runs `body` in a child process and returns its result. Changes to the process (limits, mounts,
/// signal handlers) end with the child.
inline std::string in_child(const std::function<std::string()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
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
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = ::read(ends[0], buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<size_t>(count));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? text : "the child died: " + text;
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
