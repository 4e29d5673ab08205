#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "heed/base/error.h"

namespace heed::io {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

/// Reads the bytes of a pickle sequentially and never beyond the end of the file.
class PickleBytes {
 public:
  PickleBytes(std::span<const std::byte> bytes, size_t position, const std::string& file)
      : bytes_(bytes), position_(position), file_(file) {}

  size_t position() const { return position_; }

  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, text(sizeof(T)).data(), sizeof(T));
    return value;
  }

  /// All of these throw Error when the file is too short.
  std::string_view text(uint64_t length) {
    const size_t rest = bytes_.size() - position_;
    require(length <= rest,
            "{}: the pickle is damaged or truncated: {} bytes should follow byte {}, but {} do",
            file_, length, position_, rest);
    const std::string_view found(reinterpret_cast<const char*>(bytes_.data()) + position_, length);
    position_ += length;
    return found;
  }

  /// What stands before the next line end.
  std::string_view line() {
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + position_,
                                bytes_.size() - position_);
    const size_t end = rest.find('\n');
    require(end != rest.npos, "{}: the pickle is damaged or truncated: no line ends after byte {}",
            file_, position_);
    position_ += end + 1;
    return rest.substr(0, end);
  }

 private:
  std::span<const std::byte> bytes_;
  size_t position_;
  const std::string& file_;
};

}  // namespace heed::io
