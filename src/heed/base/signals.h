#pragma once

namespace heed {

/// While one exists, SIGINT and SIGTERM ask the program to stop instead of ending it. The second such
/// signal ends it at once. There can be one at a time; what was installed before is put back.
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  bool requested() const;
};

}  // namespace heed
