// Deterministic fuzzing of the readers: whatever a file holds, they may throw nothing but
// heed::Error. Most useful in a build with sanitizers.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/random.h"
#include "tests/base/testing.h"

namespace heed {

/// A sequence of random numbers.
class Dice {
 public:
  explicit Dice(uint64_t stream) : random_(2017, stream) {}
  size_t below(size_t bound) { return bound ? random_.below(count_++, bound) : 0; }

 private:
  CounterRandom random_;
  uint64_t count_ = 0;
};

inline const std::vector<std::string> kHostileTexts{"-1",
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

/// The number of mutations in attempt `number`: none in the first, then mostly one, because a file
/// with a single fault reaches deeper code than one with many.
inline size_t mutation_count(uint64_t number, Dice& dice) {
  return number == 0 ? 0 : dice.below(4) ? 1 : 2 + dice.below(3);
}

/// Replaces a number in the text by a hostile value.
inline void replace_number(std::string& bytes, Dice& dice) {
  constexpr const char* kDigits = "0123456789";
  const size_t begin = bytes.find_first_of(kDigits, dice.below(bytes.size()));
  if (begin == std::string::npos) return;
  const size_t end = std::min(bytes.find_first_not_of(kDigits, begin), bytes.size());
  bytes.replace(begin, end - begin, kHostileTexts[dice.below(kHostileTexts.size())]);
}

inline void mutate(std::string& bytes, Dice& dice) {
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
      bytes.insert(at, kHostileTexts[dice.below(kHostileTexts.size())]);
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

/// Calls attempt(number, dice), which reads mutated input and may throw Error, up to `attempts`
/// times within a few seconds. Expects both outcomes to occur, otherwise the mutations are too
/// strong or too weak to test anything.
template <typename Attempt>
void fuzz(const std::string& name, uint64_t attempts, Attempt&& attempt) {
  constexpr auto kTimeLimit = std::chrono::seconds(kSanitized ? 6 : 2);
  int read = 0, rejected = 0;
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t number = 0; number < attempts; ++number) {
    if (std::chrono::steady_clock::now() - start > kTimeLimit) break;
    Dice dice(number);
    try {
      attempt(number, dice);
      ++read;
    } catch (const Error& error) {
      ++rejected;
      const std::string text = error.what();
      EXPECT_EQ(text.find('\n'), std::string::npos) << "attempt " << number << ": " << text;
      EXPECT_LT(text.size(), 2000u) << "attempt " << number;
      EXPECT_NO_THROW(nlohmann::json(text).dump()) << "attempt " << number << ": not UTF-8";
    } catch (const std::exception& error) {
      ADD_FAILURE() << name << ", attempt " << number << ": " << error.what();
    }
  }
  EXPECT_GT(read, (read + rejected) / 200);
  EXPECT_GT(rejected, (read + rejected) / 200);
}

/// Fuzzes a file reader: writes a mutated copy of `whole` to `path` and calls read().
template <typename Read>
void fuzz_file(const std::filesystem::path& path, const std::string& whole, uint64_t attempts,
               Read&& read) {
  fuzz(path.filename(), attempts, [&](uint64_t number, Dice& dice) {
    std::string bytes = whole;
    for (size_t i = mutation_count(number, dice); i > 0; --i) mutate(bytes, dice);
    write_quickly(path, bytes);
    read();
  });
}

}  // namespace heed
