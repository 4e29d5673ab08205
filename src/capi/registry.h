#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <typeinfo>
#include <unordered_map>

namespace heed::capi {

/// The objects behind the handles of C callers. A handle is a number that is never used twice and
/// never an address, so a handle that is NULL, freed or of another type is found out without
/// touching memory. Thread-safe.
class Registry {
 public:
  /// The one of the process. It is never destroyed: handles may be used until the process ends.
  static Registry& instance();

  /// A new handle of an object of this type.
  void* add(std::shared_ptr<void> object, const std::type_info& type);
  /// The object, which lives as long as the result; null if there is no such handle of this type.
  std::shared_ptr<void> find(const void* handle, const std::type_info& type) const;
  /// Forgets a handle and returns its object; null if there is no such handle of this type.
  std::shared_ptr<void> remove(const void* handle, const std::type_info& type);

 private:
  struct Entry {
    std::shared_ptr<void> object;
    const std::type_info* type;
  };

  mutable std::shared_mutex mutex_;
  std::unordered_map<uintptr_t, Entry> entries_;
  uintptr_t last_ = 1;
};

}  // namespace heed::capi
