#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace heed::io {

/// A safetensors file with the given header and data, valid or not; `length` is the header length
/// that it claims.
inline std::string file_bytes(const std::string& header, const std::string& data, uint64_t length) {
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + header + data;
}

inline std::string file_bytes(const std::string& header, const std::string& data) {
  return file_bytes(header, data, header.size());
}

}  // namespace heed::io
