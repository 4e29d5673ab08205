#pragma once

namespace heed {

/// Remembers the process that made it: what belongs to that process alone cannot be used in its
/// forked children.
class OwnProcess {
 public:
  OwnProcess();

  /// Whether the calling process was forked from that one. Cheaper than getpid(), a system call.
  bool is_forked() const;

 private:
  int generation_;
};

}  // namespace heed
