#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/base/file.h"
#include "heed/base/random.h"

namespace heed::text {

/// The lines that tokenizers are compared on, the same as those of
/// tests/golden/tokenizers/lines.py: scripts, emoji, control characters, broken UTF-8, random
/// bytes.
class TokenizerLines {
 public:
  static constexpr uint64_t kCount = 24000;

  explicit TokenizerLines(const std::filesystem::path& golden) {
    const std::string all = read_file(golden / "fragments.txt");
    for (size_t begin = 0; begin < all.size();) {
      const size_t end = all.find('\n', begin);
      fragments_.push_back(all.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  std::string line(uint64_t number) const {
    Dice dice(number);
    std::string text;
    const size_t items = 1 + dice.below(7);
    for (size_t i = 0; i < items; ++i) text += item(dice);
    return text;
  }

 private:
  class Dice {
   public:
    explicit Dice(uint64_t stream) : random_(2017, stream) {}
    size_t below(size_t bound) { return random_.below(count_++, bound); }

   private:
    CounterRandom random_;
    uint64_t count_ = 0;
  };

  /// The UTF-8 of a code point; surrogates are encoded likewise, which is not valid UTF-8.
  static std::string encoded(size_t value) {
    const auto low = [&](int shift) { return static_cast<char>(0x80 | ((value >> shift) & 63)); };
    const auto lead = [&](size_t mark, int shift) {
      return static_cast<char>(mark | (value >> shift));
    };
    if (value < 0x80) return {static_cast<char>(value)};
    if (value < 0x800) return {lead(0xC0, 6), low(0)};
    if (value < 0x10000) return {lead(0xE0, 12), low(6), low(0)};
    return {lead(0xF0, 18), low(12), low(6), low(0)};
  }

  static std::string code_point(Dice& dice) {
    // The first and the last code point of each block from which single code points are drawn.
    static const std::vector<std::pair<size_t, size_t>> blocks{
        {0x00, 0x7F},       {0x80, 0xFF},       {0x100, 0x24F},     {0x250, 0x36F},
        {0x370, 0x52F},     {0x530, 0x6FF},     {0x700, 0x8FF},     {0x900, 0xDFF},
        {0xE00, 0x109F},    {0x10A0, 0x139F},   {0x1400, 0x1AFF},   {0x1B00, 0x1FFF},
        {0x2000, 0x206F},   {0x2070, 0x2BFF},   {0x2C00, 0x2FFF},   {0x3000, 0x33FF},
        {0x3400, 0x9FFF},   {0xA000, 0xABFF},   {0xAC00, 0xD7FF},   {0xE000, 0xFFFF},
        {0x10000, 0x107FF}, {0x10800, 0x11FFF}, {0x12000, 0x1BFFF}, {0x1C000, 0x1EFFF},
        {0x1F000, 0x1FBFF}, {0x20000, 0x323AF}, {0xE0000, 0xE01FF}, {0x10000, 0x10FFFF}};
    const auto [first, last] = blocks[dice.below(blocks.size())];
    return encoded(first + dice.below(last - first + 1));
  }

  std::string part_of_fragment(Dice& dice) const {
    const std::string& fragment = fragments_[dice.below(fragments_.size())];
    std::vector<std::string> words(1);
    for (const char c : fragment) {
      if (c == ' ')
        words.emplace_back();
      else
        words.back().push_back(c);
    }
    const size_t begin = dice.below(words.size());
    const size_t end = std::min(words.size(), begin + 1 + dice.below(4));
    std::string text = words[begin];
    for (size_t i = begin + 1; i < end; ++i) text += ' ' + words[i];
    return text;
  }

  static std::string random_bytes(Dice& dice, size_t first, size_t kinds, size_t longest) {
    std::string text(1 + dice.below(longest), '\0');
    for (char& c : text) c = static_cast<char>(first + dice.below(kinds));
    return text;
  }

  std::string item(Dice& dice) const {
    static const std::vector<std::string> spaces{" ",      "  ",   "\n",   "\t",     "\r\n",
                                                 "\n\n\n", "    ", " \n ", "\u00A0", "\u3000"};
    const size_t kind = dice.below(16);
    if (kind < 6) return part_of_fragment(dice);
    if (kind < 9) return spaces[dice.below(spaces.size())];
    if (kind < 11) return code_point(dice);
    if (kind == 12) return random_bytes(dice, 0, 256, 5);
    if (kind == 13) return random_bytes(dice, 0x21, 94, 8);
    if (kind == 14) return random_bytes(dice, 0x30, 10, 9);
    std::string text;
    if (kind == 11) {
      const std::string one = code_point(dice);
      for (size_t i = 1 + dice.below(6); i > 0; --i) text += one;
    } else {
      for (size_t i = 2 + dice.below(4); i > 0; --i) text += code_point(dice);
    }
    return text;
  }

  std::vector<std::string> fragments_;
};

}  // namespace heed::text
