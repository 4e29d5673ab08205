#pragma once

namespace heed::cli {

/// While an instance exists, the first SIGINT or SIGTERM only sets requested(); the second one ends
/// the process by the default action. SIGUSR1, which launchers of MPI pass on to ranks, only asks,
/// as often as it comes. Only one instance may exist at a time. The destructor restores the
/// previous handlers. Interrupted system calls are restarted (SA_RESTART).
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// Whether a signal has arrived. Thread-safe.
  bool requested() const;
  /// Whether it was SIGTERM, which asks the program to end.
  bool terminated() const;
};

/// While an instance exists, SIGHUP asks the program to read its configuration again. Only one
/// instance may exist at a time. The destructor restores the previous handler.
class ReloadRequest {
 public:
  ReloadRequest();
  ~ReloadRequest();
  ReloadRequest(const ReloadRequest&) = delete;
  ReloadRequest& operator=(const ReloadRequest&) = delete;

  /// Whether a signal has arrived since the last call.
  bool take() const;
};

}  // namespace heed::cli
