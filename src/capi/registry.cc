#include "capi/registry.h"

#include <mutex>

namespace heed::capi {

Registry& Registry::instance() {
  static Registry& registry = *new Registry;
  return registry;
}

void* Registry::add(std::shared_ptr<void> object, const std::type_info& type) {
  const std::unique_lock lock(mutex_);
  last_ += 2;  // odd, as no address of an object with an alignment is
  entries_.emplace(last_, Entry{std::move(object), &type});
  return reinterpret_cast<void*>(last_);
}

std::shared_ptr<void> Registry::find(const void* handle, const std::type_info& type) const {
  const std::shared_lock lock(mutex_);
  const auto entry = entries_.find(reinterpret_cast<uintptr_t>(handle));
  if (entry == entries_.end() || *entry->second.type != type) return nullptr;
  return entry->second.object;
}

std::shared_ptr<void> Registry::remove(const void* handle, const std::type_info& type) {
  const std::unique_lock lock(mutex_);
  const auto entry = entries_.find(reinterpret_cast<uintptr_t>(handle));
  if (entry == entries_.end() || *entry->second.type != type) return nullptr;
  std::shared_ptr<void> object = std::move(entry->second.object);
  entries_.erase(entry);
  return object;
}

}  // namespace heed::capi
