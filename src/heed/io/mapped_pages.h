#pragma once

#include <cstddef>
#include <span>

namespace heed::io {

/// Gives the pages of bytes [begin, end) of a MappedFile back to the system. When they are read
/// again, they come from the file again, a few at a time: whoever copied a tensor at most looks up
/// single rows of it. Pages that hold other bytes, too, go with them (large pages that file systems
/// keep are mapped whole), so nothing may have been written to the mapping yet.
void release_pages(std::span<const std::byte> file, size_t begin, size_t end);

}  // namespace heed::io
