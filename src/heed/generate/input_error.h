#pragma once

#include <cstdint>
#include <string_view>

#include "heed/base/error.h"

namespace heed::generate {

/// Returns work(). Prefixes an Error that it throws, which stays an InputError if it is one, with
/// the name of the input: "line 3: ...".
template <typename Work>
decltype(auto) name_input(std::string_view kind, int64_t number, const Work& work) {
  try {
    return work();
  } catch (const InputError& error) {
    fail_input("{} {}: {}", kind, number, error.what());
  } catch (const Error& error) {
    fail("{} {}: {}", kind, number, error.what());
  }
}

}  // namespace heed::generate
