#pragma once

#include <cstdint>
#include <string_view>

#include "heed/base/error.h"

namespace heed::generate {

/// The result of work(). An Error that it throws is given the name of the input that it is about:
/// "line 3: ...".
template <typename Work>
decltype(auto) name_input(std::string_view kind, int64_t number, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    fail("{} {}: {}", kind, number, error.what());
  }
}

}  // namespace heed::generate
