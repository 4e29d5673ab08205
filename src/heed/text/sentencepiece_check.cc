#include "heed/text/sentencepiece_check.h"

#include "heed/base/error.h"
#include "heed/io/protobuf.h"
#include "heed/text/charsmap.h"

namespace heed::text {
namespace {

// io::Field numbers of sentencepiece_model.proto.
constexpr uint64_t kNormalizerSpec = 3;
constexpr uint64_t kDenormalizerSpec = 5;
constexpr uint64_t kPrecompiledCharsmap = 2;

}  // namespace

void check_sentencepiece_model(std::string_view serialized, const std::string& name) {
  require(!serialized.empty(), "{} is empty, expected a SentencePiece model", name);
  io::FieldReader model(serialized);
  io::Field field;
  while (model.next(field)) {
    if (field.number != kNormalizerSpec && field.number != kDenormalizerSpec) continue;
    io::FieldReader spec(field.bytes);
    io::Field part;
    while (spec.next(part))
      require(part.number != kPrecompiledCharsmap || is_sound_charsmap(part.bytes),
              "{} is a broken SentencePiece model: its normalisation table leads outside itself",
              name);
    require(!spec.broken(), "{} is a broken SentencePiece model: its normaliser is cut off", name);
  }
  require(!model.broken(),
          "{} is not a SentencePiece model: its bytes are no protocol-buffer message", name);
}

}  // namespace heed::text
