#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/detect/features.h"

namespace heed::detect {

/// How the identifier computes. A text's features each have a row of a table, chosen by hash. The
/// rows are added and divided by the root of their number; one linear layer makes logits of the sum
/// (a linear classifier of low rank over hashed n-grams, as fastText: Joulin et al. 2017).
struct Shape {
  int row_bits = 15;  // the table has 2^row_bits rows
  int width = 48;     // of a row; even
};

/// Values of a row in 4 bits, two to a byte, the first in the low half, and what they are
/// multiplied with: scale * 2^(-exponent / kExponentsPerOctave). Value q stands for q - 8.
struct QuantisedTable {
  static constexpr float kExponentsPerOctave = 16;

  float scale = 1;
  std::vector<uint8_t> exponents;  // [rows]
  std::vector<uint8_t> values;     // [rows, width / 2]
};

/// A trained identifier and its file.
class Identifier {
 public:
  struct Parts {
    Shape shape;
    std::vector<std::string> languages;
    std::vector<uint8_t> pages;  // [kPages / 8], a bit each: pages of letters of known scripts
    QuantisedTable table;
    std::vector<float> output;  // [languages, width]
    std::vector<float> bias;    // [languages]
  };

  /// Throws Error if the sizes do not fit each other.
  explicit Identifier(Parts parts);
  /// From the bytes of a file. Throws Error if they are none of an identifier.
  static Identifier from_bytes(std::string_view bytes);
  std::string bytes() const;

  const std::vector<std::string>& languages() const { return parts_.languages; }

  /// Writes the logit of each language to `logits` [languages]. False, and nothing is written, if
  /// the text has no letters, or most of them are of scripts that were not trained.
  bool logits(std::string_view text, std::span<float> logits) const;

 private:
  bool knows(uint16_t page) const { return ((parts_.pages[page / 8] >> (page % 8)) & 1) != 0; }
  void add_rows(std::span<const uint32_t> hashes, std::span<float> sum) const;

  Parts parts_;
  std::vector<float> scales_;   // of each exponent, 256
  std::vector<float> columns_;  // Parts::output transposed: [width, languages]
};

/// The row of a feature in a table of 2^row_bits rows.
inline uint32_t row_of(uint32_t hash, int row_bits) {
  return (hash * 0x9E3779B1u) >> (32 - row_bits);
}

}  // namespace heed::detect
