#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed::text {

/// What a SentencePiece model says, with the names of sentencepiece_model.proto.
struct SentencePieceProto {
  enum Type : uint64_t { normal = 1, unknown, control, user_defined, unused, byte };
  enum class Kind : uint64_t { unigram = 1, bpe, word, character };
  struct Piece {
    std::string text;
    float score = 0;
    uint64_t type = normal;
  };
  std::vector<Piece> pieces;
  Kind kind = Kind::unigram;
  bool byte_fallback = false, treat_whitespace_as_suffix = false;
  std::string charsmap;
  bool add_dummy_prefix = true, remove_extra_whitespaces = true, escape_whitespaces = true;
  bool has_denormalizer = false;  // a table that changes texts after decoding

  /// Reads a .model file; `name` is its name in messages. Throws Error on a broken one.
  static SentencePieceProto read(const std::string& serialized, const std::string& name);
};

}  // namespace heed::text
