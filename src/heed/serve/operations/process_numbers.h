#pragma once

#include <cstdint>

namespace heed::serve {

/// What the system says of this process. What it does not say is 0.
struct ProcessNumbers {
  int64_t resident_bytes = 0, virtual_bytes = 0;
  double cpu_seconds = 0;         // of all threads, in the system too
  double start_time_seconds = 0;  // since 1970
  int64_t open_files = 0, max_files = 0, threads = 0;
};
ProcessNumbers process_numbers();

/// Gives memory that was freed back to the system, which the allocators of tensors and of the C
/// library would keep: to be called after a model was loaded or unloaded.
void return_freed_memory();

}  // namespace heed::serve
