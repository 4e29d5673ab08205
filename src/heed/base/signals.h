#pragma once

namespace heed {

/// While one exists, SIGINT and SIGTERM ask the program to stop instead of ending it; the second
/// such signal ends it at once, in the system's way. There can be one at a time; what was installed
/// before is put back at its end. System calls that a signal interrupts go on.
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// May be asked from any thread.
  bool requested() const;
};

}  // namespace heed
