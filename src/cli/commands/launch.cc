#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <thread>

#include "cli/commands/child_process.h"
#include "cli/commands/host_list.h"
#include "cli/options/command.h"
#include "cli/terminal/signals.h"
#include "heed/base/directory_lock.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/file_lock.h"
#include "heed/base/quote.h"
#include "heed/ranks.h"
#include "heed/train.h"

namespace heed::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// How long a host may take to start a program.
constexpr std::chrono::seconds kProbeTimeout{30};
/// Hosts that are probed at a time.
constexpr size_t kMaxProbes = 64;
/// How long the launcher may go on when the run is over: one that cannot reach a host waits for it
/// for ever.
constexpr std::chrono::seconds kShutdownTimeout{10};
/// How often to check whether rank 0 holds the directory of the run.
constexpr std::chrono::seconds kLockPollInterval{2};
/// How long a process that lost the others may hold the directory of the run.
constexpr std::chrono::seconds kUnlockTimeout{60};
constexpr std::chrono::milliseconds kPollInterval{200};
constexpr int64_t kAnyLeaves = std::numeric_limits<int64_t>::max();

struct LaunchOptions {
  std::string hosts, launcher = "mpirun -n {ranks} --host {hosts}";
  int restarts = 3;
  std::vector<std::string> command;  // "train", ...
};

/// The end of a run.
struct RunOutcome {
  int status = 0;
  std::string error;  // that a rank has reported
  bool stopped = false;
  /// Whether a restart can continue it: no rank has reported an error that would recur.
  bool can_resume() const { return error.empty() || says_rank_missing(error); }
};

/// The value of --out.
std::filesystem::path out_of(const std::vector<std::string>& command) {
  constexpr std::string_view kOut = "--out=";
  for (size_t i = 0; i < command.size(); ++i) {
    if (command[i].starts_with(kOut)) return command[i].substr(kOut.size());
    if (command[i] == "--out" && i + 1 < command.size()) return command[i + 1];
  }
  throw UsageError("the command has no --out, which says where the checkpoints are");
}

/// Replaces `name` by `value` wherever it stands in the words.
void substitute(std::vector<std::string>& words, std::string_view name, const std::string& value) {
  bool found = false;
  for (std::string& word : words)
    for (size_t at; (at = word.find(name)) != word.npos; found = true)
      word.replace(at, name.size(), value);
  if (!found) throw UsageError(fmt::format("--launcher has no {}", name));
}

/// The words of a launcher that starts so many ranks on hosts.
std::vector<std::string> launcher_for(const std::string& launcher, const std::vector<Host>& hosts,
                                      int64_t ranks) {
  std::vector<std::string> words;
  for (size_t begin = 0; (begin = launcher.find_first_not_of(' ', begin)) != launcher.npos;) {
    const size_t end = std::min(launcher.find(' ', begin), launcher.size());
    words.push_back(launcher.substr(begin, end - begin));
    begin = end;
  }
  substitute(words, "{ranks}", std::to_string(ranks));
  substitute(words, "{hosts}", list_of(hosts));
  return words;
}

std::string joined_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// Finds out that a run is over although its launcher has not ended: a rank has reported an error,
/// or rank 0 no longer holds the directory, as it does from the beginning of a run to its end.
class RunMonitor {
 public:
  explicit RunMonitor(const std::filesystem::path& out) : lock_(out / DirectoryLock::kFile) {}

  /// Returns how long the run has been over.
  Clock::duration over(bool failed) {
    const auto now = Clock::now();
    if (now - polled_ > kLockPollInterval) {
      polled_ = now;
      const bool held = is_locked(lock_);
      ended_ = begun_ && !held;
      begun_ |= held;
    }
    if (!failed && !ended_) alive_ = now;
    return now - alive_;
  }

 private:
  const std::filesystem::path lock_;
  Clock::time_point polled_ = Clock::now(), alive_ = Clock::now();
  bool begun_ = false, ended_ = false;  // whether rank 0 has
};

/// A run that is started again when ranks are lost.
class SupervisedRun {
 public:
  explicit SupervisedRun(const LaunchOptions& options)
      : options_(options), hosts_(read_hosts(options.hosts)), out_(out_of(options.command)) {}

  int run();

 private:
  std::vector<Host> unreachable(const std::vector<Host>& hosts) const;
  std::vector<Host> unreachable_hosts() const;
  std::vector<std::string> probe(const Host& host) const;
  RunOutcome start(const std::vector<Host>& hosts, int64_t ranks, bool resume) const;
  void wait_until_unlocked() const;
  std::string resume_point() const;
  int give_up(const RunOutcome& end) const;
  bool restart(int number, std::vector<Host>& hosts, int64_t& ranks);

  const LaunchOptions& options_;
  const std::vector<Host> hosts_;
  const std::filesystem::path out_;  // of the run
  const StopRequest stop_;
};

std::vector<std::string> SupervisedRun::probe(const Host& host) const {
  std::vector<std::string> words = launcher_for(options_.launcher, {host}, 1);
  words.emplace_back("true");
  return words;
}

/// The hosts on which the launcher cannot start a program.
std::vector<Host> SupervisedRun::unreachable(const std::vector<Host>& hosts) const {
  std::vector<ChildProcess> probes;
  for (const Host& host : hosts) probes.emplace_back(probe(host));
  std::vector<Host> unreachable;
  const auto begin = Clock::now();
  for (size_t i = 0; i < hosts.size(); ++i) {
    while (!probes[i].status() && Clock::now() - begin < kProbeTimeout && !stop_.requested())
      probes[i].lines(kPollInterval / 10);
    if (probes[i].status() != 0) unreachable.push_back(hosts[i]);
  }
  return unreachable;
}

std::vector<Host> SupervisedRun::unreachable_hosts() const {
  std::vector<Host> all;
  for (size_t begin = 0; begin < hosts_.size(); begin += kMaxProbes) {
    const size_t end = std::min(begin + kMaxProbes, hosts_.size());
    const std::vector<Host> some(hosts_.begin() + static_cast<std::ptrdiff_t>(begin),
                                 hosts_.begin() + static_cast<std::ptrdiff_t>(end));
    for (const Host& host : unreachable(some)) all.push_back(host);
  }
  return all;
}

/// Starts the run and waits until it ends; passes on what it prints, and a request to stop.
RunOutcome SupervisedRun::start(const std::vector<Host>& hosts, int64_t ranks, bool resume) const {
  std::vector<std::string> words = launcher_for(options_.launcher, hosts, ranks);
  words.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  words.insert(words.end(), options_.command.begin(), options_.command.end());
  if (resume && std::ranges::find(words, "--resume") == words.end()) words.emplace_back("--resume");
  ChildProcess launcher(words);
  RunOutcome outcome;
  RunMonitor monitor(out_);
  const auto forward_output = [&](std::chrono::milliseconds wait) {
    const std::vector<std::string> lines = launcher.lines(wait);
    for (const std::string& line : lines) {
      std::fprintf(stderr, "%s\n", line.c_str());
      constexpr std::string_view kError = "heed: error: ";
      const size_t at = line.find(kError);
      if (at == line.npos || !outcome.error.empty()) continue;
      outcome.error = line.substr(at + kError.size());
    }
    return !lines.empty();
  };
  while (!launcher.status()) {
    forward_output(kPollInterval);
    if (stop_.requested() && !outcome.stopped) {
      // Which launchers of MPI pass on, unlike SIGTERM, by which they end all ranks at once.
      launcher.signal(SIGUSR1);
      outcome.stopped = true;
    }
    if (monitor.over(!outcome.error.empty()) > kShutdownTimeout) launcher.kill();
  }
  while (forward_output(std::chrono::milliseconds(0))) {
  }
  outcome.status = *launcher.status();
  return outcome;
}

/// A rank that was cut off from the others ends some time after them.
void SupervisedRun::wait_until_unlocked() const {
  const auto begin = Clock::now();
  while (path_exists(out_)) {
    try {
      return finish_killed_run(out_);
    } catch (const Error&) {
      if (Clock::now() - begin > kUnlockTimeout) throw;
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

/// The step of the checkpoint to continue from, in words.
std::string SupervisedRun::resume_point() const {
  const auto checkpoint = last_checkpoint(out_);
  return checkpoint ? fmt::format("step {}", checkpoint->step) : "the beginning";
}

/// Says how the run was lost, unless a rank has said it.
int SupervisedRun::give_up(const RunOutcome& end) const {
  require(!end.error.empty(),
          "the run was lost: \"{}\" ended with status {}; --resume continues it "
          "from {}",
          options_.launcher, end.status, resume_point());
  return 1;
}

/// Finds the hosts that are left; returns whether there is a checkpoint to continue from.
bool SupervisedRun::restart(int number, std::vector<Host>& hosts, int64_t& ranks) {
  const std::vector<Host> lost = unreachable_hosts();
  hosts.clear();
  for (const Host& host : hosts_)
    if (std::ranges::find(lost, host.name, &Host::name) == lost.end()) hosts.push_back(host);
  require(!hosts.empty(), "no host can start a program any more: {}", options_.hosts);
  wait_until_unlocked();
  const auto checkpoint = last_checkpoint(out_);
  ranks = ranks_on(hosts, checkpoint ? checkpoint->leaves : kAnyLeaves);
  const std::string line =
      fmt::format("heed: restart {} of {}: from {}, {} ranks on {}{}\n", number, options_.restarts,
                  resume_point(), ranks, list_of(hosts),
                  lost.empty() ? "" : fmt::format(", without {}", list_of(lost)));
  std::fputs(line.c_str(), stderr);
  return checkpoint.has_value();
}

int SupervisedRun::run() {
  for (const Host& host : unreachable_hosts())
    fail("host {} cannot be used: \"{}\" failed", quoted(host.name), joined_words(probe(host)));
  std::vector<Host> hosts = hosts_;
  int64_t ranks = ranks_on(hosts, kAnyLeaves);
  bool resume = false;
  for (int restarts = 0; !stop_.requested(); ++restarts) {
    const RunOutcome end = start(hosts, ranks, resume);
    if (end.status == 0) return 0;
    if (end.stopped || !end.can_resume()) return 1;
    if (restarts == options_.restarts) return give_up(end);
    resume = restart(restarts + 1, hosts, ranks);
  }
  return 1;
}

}  // namespace

void add_launch(Command& program) {
  Command command = program.add_subcommand(
      "launch", "Runs heed train on several hosts, and continues it when one fails");
  auto options = std::make_shared<LaunchOptions>();
  command
      .add_option("--hosts", options->hosts,
                  "Hosts on which ranks are started, and how many on each (default: 1), as "
                  "a,b:2,c; the ranks are the largest power of two that they take")
      .required();
  command
      .add_option("--restarts", options->restarts,
                  "How often the run is continued from its last checkpoint when ranks were lost, "
                  "on the hosts that are left")
      .range(0, 1'000'000)
      .show_default();
  command
      .add_option("--launcher", options->launcher,
                  "Command that starts {ranks} processes on {hosts}; its words are separated by "
                  "spaces")
      .show_default();
  command
      .add_option("command", options->command,
                  "After --: train and its options, as on a single machine")
      .required();
  command.footer(
      "Examples:\n"
      "  heed launch --hosts a,b,c,d -- train --source train.en --target train.es --out model\n"
      "  heed launch --hosts a:2,b:2 --restarts 10 -- train config.toml --out model\n"
      "The directory --out is on a file system that all hosts share. A run that was restarted has\n"
      "the bits of one that was not. Ctrl-C saves a checkpoint and stops.");
  command.set_action([options] {
    if (options->command.front() != "train")
      throw UsageError(
          fmt::format("{} cannot be launched, expected train", quoted(options->command.front())));
    return SupervisedRun(*options).run();
  });
}

}  // namespace heed::cli
