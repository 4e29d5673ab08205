#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "heed/c_base.h"

namespace heed::capi {

/// Ends a call of C with this status.
class StatusError : public std::runtime_error {
 public:
  StatusError(heed_status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  heed_status status() const { return status_; }

 private:
  heed_status status_;
};

/// Throws a StatusError of HEED_ERROR_INVALID_ARGUMENT unless `condition` holds.
template <typename... Args>
void require_argument(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition)
    throw StatusError(HEED_ERROR_INVALID_ARGUMENT, fmt::format(text, std::forward<Args>(args)...));
}

/// Throws a StatusError if a pointer that a call needs is null.
inline void require_pointer(const void* pointer, const char* name) {
  require_argument(pointer != nullptr, "{} is NULL", name);
}

/// Sets what a pointer of a caller points to. Throws a StatusError if it is null.
template <typename T>
void write_value(T* out, std::type_identity_t<T> value, const char* name) {
  require_pointer(out, name);
  *out = value;
}

/// Whether an error that a caller passes is NULL or initialised.
bool is_usable(const heed_error* error);
/// Writes into `error`, if it is not null, and returns the status.
heed_status report(heed_error* error, heed_status status, const char* message);
/// The same for the exception that is being handled.
heed_status report_exception(heed_error* error);

/// Runs the body of a function of C, whose exceptions become statuses.
template <typename Body>
heed_status run(heed_error* error, const Body& body) noexcept {
  if (!is_usable(error)) return HEED_ERROR_INVALID_ARGUMENT;
  try {
    body();
  } catch (...) {
    return report_exception(error);
  }
  return report(error, HEED_OK, "");
}

}  // namespace heed::capi
