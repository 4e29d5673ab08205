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

/// Reads the header of a GGUF file from front to back and never beyond its end.
class GgufCursor {
 public:
  GgufCursor(std::span<const std::byte> bytes, std::string file, size_t place = 0)
      : bytes_(bytes), file_(std::move(file)), place_(place) {}

  const std::string& file() const { return file_; }
  size_t place() const { return place_; }
  size_t room() const { return bytes_.size() - place_; }

  /// `what` stands in messages, as in all of the following. Throws Error when the file ends before.
  template <typename T>
  T number(std::string_view what) {
    T value;
    std::memcpy(&value, take(sizeof(T), what), sizeof(T));
    return value;
  }

  /// A length of 64 bits and as many bytes.
  std::string_view text(std::string_view what) {
    const auto length = number<uint64_t>(what);
    return {reinterpret_cast<const char*>(take(length, what)), length};
  }

  /// A number of things that fill at least `least_bytes` each. Throws Error when the rest of the
  /// file cannot hold them.
  uint64_t count(std::string_view what, size_t least_bytes) {
    const auto count = number<uint64_t>(what);
    require(count <= room() / least_bytes,
            "{}: {} should have {} elements, but only {} bytes follow", file_, what, count, room());
    return count;
  }

  void skip(size_t bytes, std::string_view what) { take(bytes, what); }

 private:
  const std::byte* take(uint64_t bytes, std::string_view what) {
    require(bytes <= room(), "{}: {} at byte {} should have {} bytes, but only {} follow", file_,
            what, place_, bytes, room());
    const std::byte* from = bytes_.data() + place_;
    place_ += bytes;
    return from;
  }

  std::span<const std::byte> bytes_;
  std::string file_;
  size_t place_;
};

}  // namespace heed::io
