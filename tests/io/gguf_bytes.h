#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/gguf/metadata.h"
#include "tests/base/testing.h"

namespace heed::io {

/// Builds the bytes of a GGUF file, valid or not.
class GgufBytes {
 public:
  template <typename T>
  static std::string number(T value) {
    return {reinterpret_cast<const char*>(&value), sizeof(T)};
  }
  static std::string text(std::string_view value) {
    return number(uint64_t{value.size()}) + std::string(value);
  }

  /// Adds a metadata value; `bytes` follow the type in the file.
  GgufBytes& value(std::string_view key, uint32_t type, const std::string& bytes) {
    values_ += text(key) + number(type) + bytes;
    ++value_count_;
    return *this;
  }
  GgufBytes& value(std::string_view key, GgufType type, const std::string& bytes) {
    return value(key, static_cast<uint32_t>(type), bytes);
  }

  /// Adds a tensor entry; `sizes` lists the innermost axis first, as the file does.
  GgufBytes& tensor(std::string_view name, const std::vector<uint64_t>& sizes, uint32_t type,
                    uint64_t offset) {
    tensors_ += text(name) + number(static_cast<uint32_t>(sizes.size()));
    for (const uint64_t size : sizes) tensors_ += number(size);
    tensors_ += number(type) + number(offset);
    ++tensor_count_;
    return *this;
  }

  GgufBytes& version(uint32_t version) {
    version_ = version;
    return *this;
  }
  /// Overrides the counts that the file claims.
  GgufBytes& counts(uint64_t tensors, uint64_t values) {
    tensor_count_ = tensors;
    value_count_ = values;
    return *this;
  }

  /// The file: the header, padded to a multiple of `alignment`, then `data`.
  std::string bytes(const std::string& data = "", size_t alignment = 32) const {
    std::string whole = "GGUF" + number(version_) + number(tensor_count_) + number(value_count_) +
                        values_ + tensors_;
    while (!data.empty() && whole.size() % alignment) whole += '\0';
    return whole + data;
  }

 private:
  std::string values_, tensors_;
  uint32_t version_ = 3;
  uint64_t value_count_ = 0, tensor_count_ = 0;
};

}  // namespace heed::io
