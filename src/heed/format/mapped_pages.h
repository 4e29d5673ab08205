#pragma once

#include <cstddef>
#include <span>

namespace heed::format {

/// Gives the whole pages of a part of a MappedFile back to the system; when they are read again,
/// they come from the file again.
void release_pages(std::span<const std::byte> part);

}  // namespace heed::format
