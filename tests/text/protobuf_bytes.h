#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace heed::text {

// Protocol-buffer messages made by hand, including some that no library writes.

inline std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes.push_back(static_cast<char>((value & 127) | 128));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

inline std::string number_field(uint64_t number, uint64_t value) {
  return varint(number << 3) + varint(value);
}

inline std::string bytes_field(uint64_t number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}

/// A SentencePiece model by the field numbers of sentencepiece_model.proto.
struct SentencePieceBytes {
  enum Kind : uint64_t { unigram = 1, bpe, word, character };
  enum Type : uint64_t { normal = 1, unknown, control, user_defined, unused, byte };

  std::string bytes;

  /// <unk> is the first piece.
  explicit SentencePieceBytes(Kind kind)
      : bytes(bytes_field(2, number_field(3, kind)) + bytes_field(3, "")) {
    piece("<unk>", 0, unknown);
  }

  SentencePieceBytes& piece(const std::string& text, float score, Type type = normal) {
    std::string score_bytes(sizeof(float), '\0');
    std::memcpy(score_bytes.data(), &score, sizeof(float));
    bytes += bytes_field(
        1, bytes_field(1, text) + varint(2 << 3 | 5) + score_bytes + number_field(3, type));
    return *this;
  }

  /// Sets a number of trainer_spec, or of normalizer_spec: parts of a message are merged.
  SentencePieceBytes& trainer(uint64_t number, uint64_t value) {
    bytes += bytes_field(2, number_field(number, value));
    return *this;
  }
  SentencePieceBytes& normalizer(uint64_t number, uint64_t value) {
    bytes += bytes_field(3, number_field(number, value));
    return *this;
  }

  /// The test that the model carries: `input` becomes `expected`.
  SentencePieceBytes& sample(const std::string& input, const std::string& expected) {
    bytes += bytes_field(4, bytes_field(1, bytes_field(1, input) + bytes_field(2, expected)));
    return *this;
  }
};

}  // namespace heed::text
