#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <functional>
#include <string>

namespace heed {

/// What `work` returns in a forked child, whose state ends with it. The child has the calling
/// thread alone.
inline std::string in_forked_child(const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    std::string result;
    try {
      result = work();
    } catch (const std::exception& error) {
      result = error.what();
    }
    [[maybe_unused]] const ssize_t written = ::write(ends[1], result.data(), result.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string result;
  std::array<char, 1024> buffer{};
  for (ssize_t size = 0; (size = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    result.append(buffer.data(), static_cast<size_t>(size));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return result;
}

}  // namespace heed
