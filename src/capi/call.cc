#include "capi/call.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

namespace heed::capi {
namespace {

constexpr size_t kMessage = offsetof(heed_error, message);

constexpr const char* kNames[] = {"HEED_OK",
                                  "HEED_ERROR_INVALID_ARGUMENT",
                                  "HEED_ERROR_INVALID_HANDLE",
                                  "HEED_ERROR_FAILED",
                                  "HEED_ERROR_OUT_OF_MEMORY",
                                  "HEED_ERROR_CANCELLED",
                                  "HEED_ERROR_BUFFER_TOO_SMALL",
                                  "HEED_ERROR_BUSY"};

/// The length of the longest part of `text` that has at most `limit` bytes and ends between two
/// code points.
size_t whole_characters(const char* text, size_t limit) {
  size_t length = strnlen(text, limit + 1);
  if (length <= limit) return length;
  length = limit;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  return length;
}

}  // namespace

bool is_usable(const heed_error* error) {
  return error == nullptr || error->struct_size > kMessage;
}

heed_status report(heed_error* error, heed_status status, const char* message) {
  if (error == nullptr) return status;
  const size_t room = std::min(error->struct_size, sizeof(heed_error)) - kMessage;
  const size_t length = whole_characters(message, room - 1);
  error->status = status;
  std::memcpy(error->message, message, length);
  error->message[length] = '\0';
  return status;
}

heed_status report_exception(heed_error* error) {
  try {
    throw;
  } catch (const StatusError& exception) {
    return report(error, exception.status(), exception.what());
  } catch (const std::bad_alloc&) {
    return report(error, HEED_ERROR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::length_error&) {  // of a container that would exceed any memory
    return report(error, HEED_ERROR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& exception) {
    return report(error, HEED_ERROR_FAILED, exception.what());
  } catch (...) {
    return report(error, HEED_ERROR_FAILED, "a callback threw something that is no std::exception");
  }
}

}  // namespace heed::capi

using namespace heed::capi;

heed_status heed_version(heed_string* version, heed_error* error) {
  return run(error, [&] {
    require_pointer(version, "version");
    *version = heed_string_of(HEED_VERSION);
  });
}

heed_status heed_status_name(heed_status status, heed_string* name, heed_error* error) {
  return run(error, [&] {
    require_pointer(name, "name");
    require_argument(status >= 0 && static_cast<size_t>(status) < std::size(kNames),
                     "status is {}, expected 0 to {}", status, std::size(kNames) - 1);
    *name = heed_string_of(kNames[status]);
  });
}
