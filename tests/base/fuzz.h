// Damages what heed reads, always in the same ways: whatever a file holds, only heed::Error may
// come out. Most telling in a build with sanitizers.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/random.h"
#include "tests/base/testing.h"

namespace heed {

/// Random numbers one after the other.
class Dice {
 public:
  explicit Dice(uint64_t stream) : random_(2017, stream) {}
  size_t below(size_t bound) { return bound ? random_.below(count_++, bound) : 0; }

 private:
  CounterRandom random_;
  uint64_t count_ = 0;
};

inline const std::vector<std::string> kNasty{"-1",
                                             "0",
                                             "2.5",
                                             "1e999",
                                             "nan",
                                             "2147483647",
                                             "4294967296",
                                             "9223372036854775807",
                                             "18446744073709551615",
                                             "1180591620717411303424",
                                             "null",
                                             "true",
                                             "\"\"",
                                             "\"a\"",
                                             "[]",
                                             "[[",
                                             "{",
                                             "{}",
                                             "}",
                                             "\\",
                                             "\"",
                                             " ",
                                             "\n",
                                             "\\p{",
                                             "(?:",
                                             ")*",
                                             "{9",
                                             "\\u0000",
                                             "▁",
                                             "##",
                                             std::string(1, '\0'),
                                             "\xE2\x96",
                                             "\xff\xff\xff\xff\xff\xff\xff\xff",
                                             std::string("\0\0\0\0\0\0\0\x80", 8)};

/// How often attempt `number` damages: mostly once, as a file with one fault gets further than one
/// with many; the first not at all.
inline size_t times_damaged(uint64_t number, Dice& dice) {
  return number == 0 ? 0 : dice.below(4) ? 1 : 2 + dice.below(3);
}

/// Puts something nasty in the place of a number.
inline void replace_number(std::string& bytes, Dice& dice) {
  constexpr const char* kDigits = "0123456789";
  const size_t begin = bytes.find_first_of(kDigits, dice.below(bytes.size()));
  if (begin == std::string::npos) return;
  const size_t end = std::min(bytes.find_first_not_of(kDigits, begin), bytes.size());
  bytes.replace(begin, end - begin, kNasty[dice.below(kNasty.size())]);
}

inline void damage_once(std::string& bytes, Dice& dice) {
  const size_t at = dice.below(bytes.size() + 1);
  const size_t length = dice.below(16);
  switch (dice.below(8)) {
    case 0:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << dice.below(8)));
      break;
    case 1:
      if (at < bytes.size()) bytes[at] = static_cast<char>(dice.below(256));
      break;
    case 2:
      bytes.erase(at, length);
      break;
    case 3:
      bytes.insert(at, kNasty[dice.below(kNasty.size())]);
      break;
    case 4:
      bytes.insert(at, bytes.substr(dice.below(bytes.size() + 1), length));
      break;
    case 5:
      bytes.resize(at);
      break;
    case 6:
      // The length in the first bytes of a safetensors file.
      if (bytes.size() >= 8) bytes[dice.below(8)] = static_cast<char>(dice.below(256));
      break;
    default:
      replace_number(bytes, dice);
  }
}

/// Calls `attempt`(number, dice) up to `attempts` times in a few seconds: it reads something
/// damaged and may throw Error. Some of either outcome is expected, or the damage would be too
/// great or too small to tell anything.
template <typename Attempt>
void fuzz(const std::string& name, uint64_t attempts, Attempt&& attempt) {
  constexpr auto kTime = std::chrono::seconds(kSanitized ? 6 : 2);
  int read = 0, refused = 0;
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t number = 0; number < attempts; ++number) {
    if (std::chrono::steady_clock::now() - start > kTime) break;
    Dice dice(number);
    try {
      attempt(number, dice);
      ++read;
    } catch (const Error& error) {
      ++refused;
      const std::string text = error.what();
      EXPECT_EQ(text.find('\n'), std::string::npos) << "attempt " << number << ": " << text;
      EXPECT_LT(text.size(), 2000u) << "attempt " << number;
      EXPECT_NO_THROW(nlohmann::json(text).dump()) << "attempt " << number << ": not UTF-8";
    } catch (const std::exception& error) {
      ADD_FAILURE() << name << ", attempt " << number << ": " << error.what();
    }
  }
  EXPECT_GT(read, (read + refused) / 200);
  EXPECT_GT(refused, (read + refused) / 200);
}

/// The same with the bytes of a file: `read`() is called after damaged copies of `whole` were
/// written to `path`.
template <typename Read>
void fuzz_file(const std::filesystem::path& path, const std::string& whole, uint64_t attempts,
               Read&& read) {
  fuzz(path.filename(), attempts, [&](uint64_t number, Dice& dice) {
    std::string bytes = whole;
    for (size_t i = times_damaged(number, dice); i > 0; --i) damage_once(bytes, dice);
    write_quickly(path, bytes);
    read();
  });
}

}  // namespace heed
