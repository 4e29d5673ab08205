#pragma once

#include <cstdint>
#include <string_view>

namespace heed::text::tables {

/// Reads the numbers of unicode/tables.h one after the other.
class NumberReader {
 public:
  explicit NumberReader(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }

  uint32_t next() {
    uint32_t value = 0;
    while (true) {
      const char c = character();
      if (c >= 'g') return value * 16 + static_cast<uint32_t>(c - 'g');
      value = value * 16 + static_cast<uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    }
  }

  char character() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

 private:
  std::string_view rest_;
};

}  // namespace heed::text::tables
