#pragma once

#include <memory>

#include "capi/handles.h"
#include "heed/executor.h"

namespace heed::capi {

template <>
struct HandleOf<heed_executor> {
  using Object = Executor;
  static constexpr const char* kName = "executor";
};

/// The executor of a handle; null for NULL.
inline std::shared_ptr<Executor> executor_of(const heed_executor* handle) {
  return handle ? object_of(handle) : nullptr;
}

}  // namespace heed::capi
