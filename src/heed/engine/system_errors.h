#pragma once

#include <filesystem>

#include "heed/base/error.h"

namespace heed::engine {

/// The result of `call`, whose filesystem_error becomes an Error.
template <typename Call>
auto with_system_errors(const Call& call) {
  try {
    return call();
  } catch (const std::filesystem::filesystem_error& error) {
    fail("{}: {}", error.path1().string(), error.code().message());
  }
}

}  // namespace heed::engine
