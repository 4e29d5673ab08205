#include "heed/text/files/sentencepiece_check.h"

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/base/reader_limits.h"
#include "heed/io/protobuf.h"
#include "heed/text/charsmap.h"

namespace heed::text {
namespace {

// Field numbers of sentencepiece_model.proto.
constexpr uint64_t kPieceField = 1, kPieceTextField = 1;
constexpr uint64_t kNormalizerSpec = 3;
constexpr uint64_t kSelfTestData = 4, kSamples = 1, kSampleInput = 1, kSampleExpected = 2;
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
      require(
          part.number != kPrecompiledCharsmap || is_valid_charsmap(part.bytes),
          "{} is a broken SentencePiece model: its normalisation table points outside itself, or "
          "a key or a replacement is too long",
          name);
    require(!spec.broken(), "{} is a broken SentencePiece model: its normaliser is cut off", name);
  }
  require(!model.broken(), "{} is not a SentencePiece model: it is not a protocol-buffer message",
          name);
}

void check_piece_lengths(std::string_view serialized, const std::string& name) {
  io::FieldReader model(serialized);
  for (io::Field field; model.next(field);) {
    if (field.number != kPieceField) continue;
    io::FieldReader piece(field.bytes);
    for (io::Field part; piece.next(part);)
      if (part.number == kPieceTextField && part.bytes.size() > limits::kMaxLibraryPieceBytes)
        fail("{}: the piece {} has {} bytes, at most {} are allowed", name, quoted(part.bytes),
             part.bytes.size(), limits::kMaxLibraryPieceBytes);
  }
}

SelfTest take_self_test(std::string_view serialized) {
  SelfTest test;
  io::FieldReader model(serialized);
  size_t begin = 0;
  for (io::Field field; model.next(field);) {
    const size_t end = serialized.size() - model.left();
    if (field.number != kSelfTestData) test.model += serialized.substr(begin, end - begin);
    begin = end;
    if (field.number != kSelfTestData) continue;
    io::FieldReader data(field.bytes);
    for (io::Field sample; data.next(sample);) {
      if (sample.number != kSamples) continue;
      auto& [input, expected] = test.samples.emplace_back();
      io::FieldReader texts(sample.bytes);
      for (io::Field text; texts.next(text);) {
        if (text.number == kSampleInput) input = text.bytes;
        if (text.number == kSampleExpected) expected = text.bytes;
      }
    }
  }
  return test;
}

}  // namespace heed::text
