#pragma once

#include <memory>
#include <mutex>
#include <typeinfo>

#include "capi/call.h"
#include "capi/registry.h"

namespace heed::capi {

/// Describes a type of handle: `Object` is the type of what it stands for, `kName` its name in
/// errors.
template <typename Handle>
struct HandleOf;

template <typename Handle>
using ObjectOf = typename HandleOf<Handle>::Object;

[[noreturn]] inline void fail_handle(const char* name) {
  throw StatusError(HEED_ERROR_INVALID_HANDLE,
                    fmt::format("the handle of a {0} is NULL, freed or not of a {0}", name));
}

/// The object of a handle, which lives as long as the result. Throws StatusError when there is
/// none.
template <typename Handle>
std::shared_ptr<ObjectOf<Handle>> object_of(const Handle* handle) {
  using Object = ObjectOf<Handle>;
  auto object =
      std::static_pointer_cast<Object>(Registry::instance().find(handle, typeid(HandleOf<Handle>)));
  if (!object) fail_handle(HandleOf<Handle>::kName);
  return object;
}

/// Checks where a handle will be written, before the work for it begins, and sets it to NULL.
template <typename Handle>
void require_output(Handle** handle, const char* name) {
  require_pointer(handle, name);
  *handle = nullptr;
}

template <typename Handle>
void set_handle(Handle** handle, std::shared_ptr<ObjectOf<Handle>> object) {
  *handle =
      static_cast<Handle*>(Registry::instance().add(std::move(object), typeid(HandleOf<Handle>)));
}

template <typename Handle>
heed_status free_handle(Handle* handle, heed_error* error) {
  return run(error, [&] {
    if (!Registry::instance().remove(handle, typeid(HandleOf<Handle>)))
      fail_handle(HandleOf<Handle>::kName);
  });
}

/// Locks what one thread uses at a time. Throws StatusError when another thread does.
template <typename Mutex>
std::unique_lock<Mutex> lock_or_busy(Mutex& mutex, const char* name) {
  std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock)
    throw StatusError(HEED_ERROR_BUSY, fmt::format("the {} is used by another thread", name));
  return lock;
}

/// Defines HANDLE_count() of the C API, for a handle of a container.
#define HEED_DEFINE_COUNT(handle_type)                                                     \
  heed_status handle_type##_count(handle_type* result, size_t* count, heed_error* error) { \
    return run(error, [&] { write_value(count, object_of(result)->size(), "count"); });    \
  }

/// Defines HANDLE_free() of the C API.
#define HEED_DEFINE_FREE(handle_type)                                      \
  heed_status handle_type##_free(handle_type* handle, heed_error* error) { \
    return heed::capi::free_handle(handle, error);                         \
  }

}  // namespace heed::capi
