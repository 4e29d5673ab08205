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

/// Reads the header of a GGUF file sequentially and never beyond the end of the file.
class GgufCursor {
 public:
  GgufCursor(std::span<const std::byte> bytes, std::string file, size_t position = 0)
      : bytes_(bytes), file_(std::move(file)), position_(position) {}

  const std::string& file() const { return file_; }
  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }

  /// Reads a number. `what` names it in messages, as in the functions below, all of which throw
  /// Error when the file is too short.
  template <typename T>
  T number(std::string_view what) {
    T value;
    std::memcpy(&value, take(sizeof(T), what), sizeof(T));
    return value;
  }

  /// Reads a string: a 64-bit length, then the bytes.
  std::string_view text(std::string_view what) {
    const auto length = number<uint64_t>(what);
    return {reinterpret_cast<const char*>(take(length, what)), length};
  }

  /// Reads a 64-bit count of elements of at least `min_bytes` each. Throws Error when the rest of
  /// the file cannot hold that many.
  uint64_t count(std::string_view what, size_t min_bytes) {
    const auto count = number<uint64_t>(what);
    require(count <= remaining() / min_bytes,
            "{}: {} should have {} elements, but only {} bytes follow", file_, what, count,
            remaining());
    return count;
  }

  void skip(size_t bytes, std::string_view what) { take(bytes, what); }

 private:
  const std::byte* take(uint64_t bytes, std::string_view what) {
    require(bytes <= remaining(), "{}: {} at byte {} should have {} bytes, but only {} follow",
            file_, what, position_, bytes, remaining());
    const std::byte* from = bytes_.data() + position_;
    position_ += bytes;
    return from;
  }

  std::span<const std::byte> bytes_;
  std::string file_;
  size_t position_;
};

/// Reads what stands before the metadata, and returns the number of tensors. Throws Error unless
/// the file begins with the magic number and a known version.
uint64_t read_gguf_start(GgufCursor& cursor);

}  // namespace heed::io
