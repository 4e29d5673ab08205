#pragma once

#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "heed/base/error.h"

namespace heed::io {

/// Throws Error when a file of weights is what git leaves in its place without Git LFS.
inline void refuse_lfs_pointer(std::span<const std::byte> bytes, const std::string& file) {
  constexpr std::string_view kBegin = "version https://git-lfs.github.com/spec/";
  require(
      bytes.size() < kBegin.size() || std::memcmp(bytes.data(), kBegin.data(), kBegin.size()) != 0,
      "{}: is a pointer to a file of Git LFS: git lfs pull fetches the file", file);
}

}  // namespace heed::io
