#pragma once

#include <cstdint>
#include <string_view>

namespace heed::io {

/// One field of a message. A varint is in `value`; every other wire type is in `bytes`.
struct Field {
  uint64_t number = 0;
  uint64_t value = 0;
  std::string_view bytes;
};

/// Reads the fields of a Protocol Buffers message in order.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : rest_(message) {}

  /// False at the end of the message and on malformed input; broken() tells the two apart.
  bool next(Field& field) {
    if (rest_.empty() || broken_) return false;
    const uint64_t tag = varint();
    field = {tag >> 3, 0, {}};
    switch (tag & 7) {
      case 0:
        field.value = varint();
        break;
      case 1:
        field.bytes = take(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        field.bytes = take(4);
        break;
      default:
        broken_ = true;
    }
    return !broken_;
  }

  bool broken() const { return broken_; }
  /// How many bytes of the message follow.
  size_t left() const { return rest_.size(); }

 private:
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::string_view byte = take(1);
      if (byte.empty()) return 0;
      const auto bits = static_cast<uint8_t>(byte[0]);
      value |= static_cast<uint64_t>(bits & 0x7F) << shift;
      if (bits < 0x80) return value;
    }
    broken_ = true;
    return 0;
  }

  std::string_view take(uint64_t count) {
    if (broken_ || count > rest_.size()) {
      broken_ = true;
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
  bool broken_ = false;
};

}  // namespace heed::io
