#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heed::text {

/// A set of code points as ranges, for building sets: union, complement, intersection.
class CodePointRanges {
 public:
  static constexpr char32_t kLast = 0x10FFFF;

  CodePointRanges() = default;
  /// From the edges of unicode/tables.h.
  static CodePointRanges from_table(std::string_view edges);
  static CodePointRanges all();

  void add(char32_t first, char32_t last);
  void add(const CodePointRanges& other);
  CodePointRanges inverted() const;
  CodePointRanges intersected(const CodePointRanges& other) const;

  struct Range {
    char32_t first, last;
  };
  /// Ascending; no two touch.
  const std::vector<Range>& ranges() const { return ranges_; }

 private:
  std::vector<Range> ranges_;
};

/// A set of code points as a table of bits, for testing membership in constant time.
class CharSet {
 public:
  CharSet() : CharSet(CodePointRanges()) {}
  explicit CharSet(const CodePointRanges& ranges);

  bool contains(char32_t value) const {
    const uint32_t page = index_[value >> 8];
    return ((pages_[page][(value >> 6) & 3] >> (value & 63)) & 1) != 0;
  }

 private:
  using Page = std::array<uint64_t, 4>;  // 256 bits
  std::vector<uint16_t> index_;          // [0x1100]
  std::vector<Page> pages_;
};

}  // namespace heed::text
