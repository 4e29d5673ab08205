#include "heed/text/files/sentencepiece_proto.h"

#include <cmath>
#include <cstring>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/io/protobuf.h"
#include "heed/text/files/sentencepiece_check.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

using Proto = SentencePieceProto;

Proto::Piece read_proto_piece(std::string_view message) {
  Proto::Piece piece;
  io::FieldReader reader(message);
  for (io::Field field; reader.next(field);) {
    if (field.number == 1) piece.text = std::string(field.bytes);
    if (field.number == 2 && field.bytes.size() == sizeof(float))
      std::memcpy(&piece.score, field.bytes.data(), sizeof(float));
    if (field.number == 3) piece.type = field.value;
  }
  return piece;
}

/// The other fields say how the model was trained, or what its pieces say themselves.
void read_trainer_spec(std::string_view message, Proto& proto, const std::string& name) {
  io::FieldReader reader(message);
  for (io::Field field; reader.next(field);) {
    if (field.number == 3) {
      require(field.value >= 1 && field.value <= 4,
              "{}: the model type is {}, expected unigram (1), bpe (2), word (3) or char (4)", name,
              field.value);
      proto.kind = static_cast<Proto::Kind>(field.value);
    }
    if (field.number == 24) proto.treat_whitespace_as_suffix = field.value != 0;
    if (field.number == 35) proto.byte_fallback = field.value != 0;
  }
}

void read_normalizer_spec(std::string_view message, Proto& proto) {
  io::FieldReader reader(message);
  for (io::Field field; reader.next(field);) {
    if (field.number == 2) proto.charsmap = std::string(field.bytes);
    if (field.number == 3) proto.add_dummy_prefix = field.value != 0;
    if (field.number == 4) proto.remove_extra_whitespaces = field.value != 0;
    if (field.number == 5) proto.escape_whitespaces = field.value != 0;
  }
}

}  // namespace

Proto Proto::read(const std::string& serialized, const std::string& name) {
  check_sentencepiece_model(serialized, name);
  Proto proto;
  io::FieldReader reader(serialized);
  for (io::Field field; reader.next(field);) {
    if (field.number == 1) proto.pieces.push_back(read_proto_piece(field.bytes));
    if (field.number == 2) read_trainer_spec(field.bytes, proto, name);
    if (field.number == 3) read_normalizer_spec(field.bytes, proto);
    if (field.number == 5) {
      Proto denormalizer;
      read_normalizer_spec(field.bytes, denormalizer);
      proto.has_denormalizer = !denormalizer.charsmap.empty();
    }
  }
  require(!proto.pieces.empty(), "{} is a SentencePiece model without pieces", name);
  for (const auto& piece : proto.pieces)
    if (!is_valid_utf8(piece.text) || !std::isfinite(piece.score))
      fail("{} is a broken SentencePiece model: the piece {} with the score {}", name,
           quoted(piece.text), piece.score);
  return proto;
}

}  // namespace heed::text
