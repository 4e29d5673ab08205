#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace heed::io {

/// A safetensors file with this header and data, whatever they are; `length` is what it claims of
/// its header.
inline std::string file_bytes(const std::string& header, const std::string& data, uint64_t length) {
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + header + data;
}

inline std::string file_bytes(const std::string& header, const std::string& data) {
  return file_bytes(header, data, header.size());
}

}  // namespace heed::io
