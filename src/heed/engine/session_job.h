#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "heed/engine/loaded_model.h"
#include "heed/generate/scheduler.h"
#include "heed/session.h"

namespace heed::engine {

/// The kv caches of a session. A translator has those of Model::translate(), other models those of
/// Model::generate().
generate::CacheOptions session_cache(const LoadedModel& model);

/// A request of a session while it is decoded.
class SessionJob {
 public:
  /// Throws Error as Session::add() does.
  static std::unique_ptr<SessionJob> make(const LoadedModel& model, const Request& request);
  virtual ~SessionJob() = default;

  /// For the scheduler; the job must outlive it.
  virtual generate::Scheduler::Request request() = 0;
  /// Calls `on_delta` with what was added since the last call, if anything. Returns whether the
  /// request goes on.
  virtual bool report(RequestId id, bool ended, const Session::OnDelta& on_delta) = 0;
};

}  // namespace heed::engine
