#include "cli/commands/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/quote.h"

extern char** environ;

namespace heed::cli {
namespace {

constexpr std::chrono::milliseconds kStatusInterval{20};

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  require(::pipe2(ends.data(), O_CLOEXEC) == 0, "a pipe cannot be made: {}", std::strerror(errno));
  errors_ = Descriptor(ends[0]);
  const Descriptor writes(ends[1]);
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, writes.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int error =
      ::posix_spawnp(&process_, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  require(error == 0, "{} cannot be started: {}", quoted(command[0]), std::strerror(error));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      errors_(std::move(other.errors_)),
      unfinished_(std::move(other.unfinished_)),
      status_(other.status_) {}

ChildProcess::~ChildProcess() {
  if (process_ > 0 && !status()) kill();
}

std::vector<std::string> ChildProcess::lines(std::chrono::milliseconds wait) {
  std::vector<std::string> complete;
  pollfd input{.fd = errors_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&input, 1, static_cast<int>(wait.count())) <= 0) return complete;
  std::array<char, 4096> bytes;
  const ssize_t count = ::read(errors_.get(), bytes.data(), bytes.size());
  if (count <= 0) {
    std::this_thread::sleep_for(
        kStatusInterval);  // it has closed its standard error, but not ended yet
    return complete;
  }
  unfinished_.append(bytes.data(), static_cast<size_t>(count));
  size_t begin = 0;
  for (size_t end; (end = unfinished_.find('\n', begin)) != unfinished_.npos; begin = end + 1)
    complete.push_back(unfinished_.substr(begin, end - begin));
  unfinished_.erase(0, begin);
  return complete;
}

std::optional<int> ChildProcess::status() {
  int state = 0;
  if (!status_ && ::waitpid(process_, &state, WNOHANG) == process_)
    status_ = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
  return status_;
}

void ChildProcess::signal(int number) const {
  if (!status_) ::kill(process_, number);
}

void ChildProcess::kill() {
  ::kill(-process_, SIGKILL);
  while (!status()) std::this_thread::sleep_for(kStatusInterval);
}

}  // namespace heed::cli
