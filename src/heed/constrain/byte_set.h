#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace heed::constrain {

/// A set of bytes.
class ByteSet {
 public:
  constexpr ByteSet() = default;
  static constexpr ByteSet of(uint8_t byte) { return range(byte, byte); }
  /// Both ends belong to it.
  static constexpr ByteSet range(uint8_t first, uint8_t last) {
    ByteSet set;
    for (int byte = first; byte <= last; ++byte) set.add(static_cast<uint8_t>(byte));
    return set;
  }
  static constexpr ByteSet all() { return ~ByteSet(); }

  constexpr void add(uint8_t byte) { words_[byte >> 6] |= uint64_t{1} << (byte & 63); }
  constexpr bool contains(uint8_t byte) const { return (words_[byte >> 6] >> (byte & 63)) & 1; }
  constexpr bool empty() const { return *this == ByteSet(); }
  constexpr int count() const {
    int count = 0;
    for (const uint64_t word : words_) count += std::popcount(word);
    return count;
  }
  /// The lowest member; 256 if there is none.
  constexpr int first() const {
    for (int i = 0; i < 4; ++i) {
      if (words_[static_cast<std::size_t>(i)] != 0) {
        return i * 64 + std::countr_zero(words_[static_cast<std::size_t>(i)]);
      }
    }
    return 256;
  }

  constexpr ByteSet& operator|=(const ByteSet& other) {
    for (std::size_t i = 0; i < 4; ++i) words_[i] |= other.words_[i];
    return *this;
  }
  constexpr ByteSet& operator&=(const ByteSet& other) {
    for (std::size_t i = 0; i < 4; ++i) words_[i] &= other.words_[i];
    return *this;
  }
  friend constexpr ByteSet operator|(ByteSet a, const ByteSet& b) { return a |= b; }
  friend constexpr ByteSet operator&(ByteSet a, const ByteSet& b) { return a &= b; }
  constexpr ByteSet operator~() const {
    ByteSet set;
    for (std::size_t i = 0; i < 4; ++i) set.words_[i] = ~words_[i];
    return set;
  }
  constexpr auto operator<=>(const ByteSet&) const = default;
  constexpr const std::array<uint64_t, 4>& words() const { return words_; }

 private:
  std::array<uint64_t, 4> words_ = {};
};

}  // namespace heed::constrain
