#pragma once

#include <cstdint>
#include <string_view>

namespace heed {

/// A hash of what `hash` stands for, followed by `bytes`. Not cryptographic.
uint64_t hash_after(uint64_t hash, std::string_view bytes);

}  // namespace heed
