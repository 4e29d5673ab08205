#pragma once

#include <cstddef>
#include <span>

namespace heed::io {

/// Returns the pages of bytes [begin, end) of a MappedFile to the system (MADV_DONTNEED). A later
/// access reads them from the file again, in small pages, because after a tensor has been copied at
/// most single rows of it are read. Pages that also hold other bytes are released as well (file
/// systems map large pages as a whole), so the mapping must not have been written to.
void release_pages(std::span<const std::byte> file, size_t begin, size_t end);

}  // namespace heed::io
