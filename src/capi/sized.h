#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "capi/call.h"

namespace heed::capi {

// Structs that begin with their size, as the caller's header has it. A caller that was compiled
// with an older header has a smaller struct, one with a newer header a larger one.

/// Larger sizes are of structs that were not initialised.
constexpr size_t kMaxStructSize = 4096;

/// The defaults of a struct with options; struct_size does not matter.
template <typename Options>
Options defaults();

template <typename Struct>
void check_size(size_t size, const char* name) {
  static_assert(std::is_trivially_copyable_v<Struct> && std::is_standard_layout_v<Struct>);
  require_argument(size >= sizeof(size_t) && size <= kMaxStructSize && size % alignof(Struct) == 0,
                   "{}->struct_size is {}, expected the size of the struct", name, size);
}

/// Sets `size` bytes to the defaults; what this library does not know to 0.
template <typename Options>
heed_status init_sized(Options* options, size_t size, heed_error* error) {
  return run(error, [&] {
    require_pointer(options, "options");
    check_size<Options>(size, "options");
    Options values = defaults<Options>();
    values.struct_size = size;
    std::memset(static_cast<void*>(options), 0, size);
    std::memcpy(static_cast<void*>(options), &values, std::min(size, sizeof(Options)));
  });
}

/// Defines TYPE_init_sized() of the C API.
#define HEED_DEFINE_INIT(type)                                                   \
  heed_status type##_init_sized(type* options, size_t size, heed_error* error) { \
    return heed::capi::init_sized(options, size, error);                         \
  }

/// The options of a caller: the defaults where `options` is NULL or ends. Throws StatusError when
/// its size is wrong, and when a newer caller sets an option that this library does not know.
template <typename Options>
Options read_sized(const Options* options, const char* name = "options") {
  Options values = defaults<Options>();
  if (options == nullptr) return values;
  check_size<Options>(options->struct_size, name);
  const char* bytes = reinterpret_cast<const char*>(options);
  require_argument(std::all_of(bytes + std::min(options->struct_size, sizeof(Options)),
                               bytes + options->struct_size, [](char byte) { return byte == 0; }),
                   "{} sets an option that this version of heed does not have", name);
  std::memcpy(&values, options, std::min(options->struct_size, sizeof(Options)));
  return values;
}

/// Fills a struct of a caller, as far as it goes. What this library does not know becomes 0.
template <typename View>
void write_sized(View* out, View values, const char* name) {
  require_pointer(out, name);
  const size_t size = out->struct_size;
  check_size<View>(size, name);
  values.struct_size = size;
  std::memset(static_cast<void*>(out), 0, size);
  std::memcpy(static_cast<void*>(out), &values, std::min(size, sizeof(View)));
}

}  // namespace heed::capi
