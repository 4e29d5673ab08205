#pragma once

#include <filesystem>
#include <optional>

#include "heed/base/descriptor.h"

namespace heed {

/// An exclusive lock (flock) on a file, which is created if it is missing: the open file, which
/// holds the lock until it is closed or the process ends; nothing when another one, or this process
/// itself, holds it. `holder`, if given, receives the open file then. The lock is advisory; on a
/// file system without locks it is always granted. Throws Error, which names the directory, when
/// the file cannot be created.
std::optional<Descriptor> try_lock_file(const std::filesystem::path& path,
                                        Descriptor* holder = nullptr);

/// Whether a process may hold such a lock: false only if there is no file, or its lock is free. For
/// an instant, try_lock_file() of another process finds the lock held by this call.
bool is_locked(const std::filesystem::path& path);

}  // namespace heed
