#include "cli/commands/service_manager.h"

#if defined(__linux__)

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace heed::cli {
namespace {

/// systemd wants to know when a reload began (Type=notify-reload).
int64_t monotonic_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

}  // namespace

void notify_service_manager(const char* state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || std::strlen(path) >= sizeof(address.sun_path)) return;
  std::memcpy(address.sun_path, path, std::strlen(path));
  if (path[0] == '@') address.sun_path[0] = '\0';  // an abstract socket
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return;
  std::string message = state;
  if (std::string_view(state) == "RELOADING=1")
    message += fmt::format("\nMONOTONIC_USEC={}", monotonic_microseconds());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(path));
  // Nothing depends on it: a service manager that does not listen is not told.
  if (sendto(descriptor, message.data(), message.size(), MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&address), length) < 0) {
  }
  close(descriptor);
}

}  // namespace heed::cli

#else  // no other system has systemd

void heed::cli::notify_service_manager(const char*) {}

#endif
