#pragma once

namespace heed::cli {

/// Tells systemd, or whoever set NOTIFY_SOCKET, the state of this service: "READY=1",
/// "RELOADING=1", "STOPPING=1", "WATCHDOG=1" (sd_notify(3)). Does nothing if nobody wants to know.
void notify_service_manager(const char* state);

}  // namespace heed::cli
