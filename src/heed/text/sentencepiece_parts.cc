#include <cmath>
#include <cstring>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/io/protobuf.h"
#include "heed/text/sentencepiece_check.h"
#include "heed/text/tokenizer_files.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

using Proto = SentencePieceProto;

Proto::Piece read_piece(std::string_view message) {
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

void read_trainer_spec(std::string_view message, Proto& proto, const std::string& name) {
  io::FieldReader reader(message);
  for (io::Field field; reader.next(field);) {
    if (field.number == 3) {
      require(field.value == 1 || field.value == 2,
              "{}: the model type is {}, expected unigram (1) or bpe (2)", name, field.value);
      proto.bpe = field.value == 2;
    }
    if (field.number == 35) proto.byte_fallback = field.value != 0;
  }
}

void read_normalizer_spec(std::string_view message, Proto& proto) {
  io::FieldReader reader(message);
  for (io::Field field; reader.next(field);) {
    if (field.number == 2) proto.charsmap = std::string(field.bytes);
    if (field.number == 3) proto.add_dummy_prefix = field.value != 0;
    if (field.number == 4) proto.remove_extra_whitespaces = field.value != 0;
  }
}

Proto read_proto(const std::string& serialized, const std::string& name) {
  check_sentencepiece_model(serialized, name);
  Proto proto;
  io::FieldReader reader(serialized);
  for (io::Field field; reader.next(field);) {
    if (field.number == 1) proto.pieces.push_back(read_piece(field.bytes));
    if (field.number == 2) read_trainer_spec(field.bytes, proto, name);
    if (field.number == 3) read_normalizer_spec(field.bytes, proto);
  }
  require(!proto.pieces.empty(), "{} is a SentencePiece model without pieces", name);
  for (const auto& piece : proto.pieces)
    if (!is_valid_utf8(piece.text) || !std::isfinite(piece.score))
      fail("{} is a broken SentencePiece model: the piece {} with the score {}", name,
           quoted(piece.text), piece.score);
  return proto;
}

/// XLM-RoBERTa's ids: fairseq's special pieces replace <unk>, <s> and </s>.
void renumber_as_fairseq(Proto& proto, const std::string& name) {
  require(proto.pieces.size() >= 3, "{} has {} pieces, expected at least 3", name,
          proto.pieces.size());
  std::vector<Proto::Piece> pieces{{"<s>", 0, Proto::control},
                                   {"<pad>", 0, Proto::control},
                                   {"</s>", 0, Proto::control},
                                   {"<unk>", 0, Proto::unknown}};
  std::move(proto.pieces.begin() + 3, proto.pieces.end(), std::back_inserter(pieces));
  pieces.push_back({"<mask>", 0, Proto::control});
  proto.pieces = std::move(pieces);
}

/// Pegasus's ids: <pad> and </s>, then those that only its pretraining used, then the other pieces.
void renumber_as_pegasus(Proto& proto, const std::string& name) {
  constexpr int kOffset = 103;
  require(
      proto.pieces.size() >= 3 && proto.pieces[0].text == "<pad>" && proto.pieces[1].text == "</s>",
      "{} does not begin with the pieces <pad> and </s>, as Pegasus's does", name);
  std::vector<Proto::Piece> pieces{proto.pieces[0], proto.pieces[1]};
  for (const char* mask : {"<mask_1>", "<mask_2>"}) pieces.push_back({mask, 0, Proto::control});
  for (int i = 2; i < kOffset; ++i)
    pieces.push_back({fmt::format("<unk_{}>", i), 0, Proto::control});
  std::move(proto.pieces.begin() + 2, proto.pieces.end(), std::back_inserter(pieces));
  proto.pieces = std::move(pieces);
}

std::unique_ptr<TokenizerModel> make_model(const Proto& proto, const std::string& name) {
  std::optional<int32_t> unknown;
  for (size_t id = 0; id < proto.pieces.size() && !unknown; ++id)
    if (proto.pieces[id].type == Proto::unknown) unknown = static_cast<int32_t>(id);
  if (!proto.bpe) {
    std::vector<std::pair<std::string, double>> pieces;
    for (const auto& piece : proto.pieces) pieces.emplace_back(piece.text, piece.score);
    return make_unigram(pieces, {unknown, proto.byte_fallback}, name);
  }
  Vocabulary vocabulary;
  std::vector<std::optional<float>> scores;
  for (const auto& piece : proto.pieces) {
    vocabulary.add(piece.text, static_cast<int32_t>(scores.size()));
    const bool merges = piece.type == Proto::normal || piece.type == Proto::user_defined;
    scores.push_back(merges ? std::optional(piece.score) : std::nullopt);
  }
  BpeOptions options;
  if (unknown) options.unknown = proto.pieces[static_cast<size_t>(*unknown)].text;
  options.fuse_unknown = true;
  options.byte_fallback = proto.byte_fallback;
  const auto merges = merges_of_scores(vocabulary, scores);
  return make_bpe(std::move(vocabulary), merges, options);
}

/// The normalisation that SentencePiece applies before segmentation.
std::unique_ptr<Normalizer> make_normalizer(const Proto& proto, const std::string& name) {
  std::vector<std::unique_ptr<Normalizer>> parts;
  if (!proto.charsmap.empty()) parts.push_back(make_longest_keys(proto.charsmap, name));
  if (proto.remove_extra_whitespaces) {
    parts.push_back(make_replace(Regex(" {2,}", name), " "));
    parts.push_back(make_replace(Regex("\\A | \\z", name), ""));
  }
  if (proto.add_dummy_prefix) parts.push_back(make_prepend("\u2581"));
  parts.push_back(make_replace(Regex::literal(" "), "\u2581"));
  return make_sequence(std::move(parts));
}

}  // namespace

std::unique_ptr<Decoder> make_sentencepiece_decoder(bool dummy_prefix) {
  std::vector<std::unique_ptr<Decoder>> parts;
  parts.push_back(make_replace_decoder(Regex::literal("\u2581"), " "));
  parts.push_back(make_byte_fallback_decoder());
  parts.push_back(make_fuse_decoder());
  if (dummy_prefix) parts.push_back(make_strip_decoder(' ', 1, 0));
  return make_decoder_sequence(std::move(parts));
}

TokenizerParts read_sentencepiece_parts(const std::string& serialized, const std::string& name,
                                        PieceIds ids) {
  Proto proto = read_proto(serialized, name);
  if (ids == PieceIds::fairseq) renumber_as_fairseq(proto, name);
  if (ids == PieceIds::pegasus) renumber_as_pegasus(proto, name);
  return sentencepiece_parts(proto, name);
}

TokenizerParts sentencepiece_parts(const SentencePieceProto& proto, const std::string& name) {
  TokenizerParts parts;
  for (const auto& piece : proto.pieces) {
    if (piece.type != Proto::control && piece.type != Proto::user_defined &&
        piece.type != Proto::unknown)
      continue;
    AddedToken token = special_token(piece.text);
    token.special = piece.type != Proto::user_defined;
    parts.added_tokens.push_back(std::move(token));
  }
  parts.normalizer = make_normalizer(proto, name);
  parts.model = make_model(proto, name);
  parts.decoder = make_sentencepiece_decoder(proto.add_dummy_prefix);
  return parts;
}

}  // namespace heed::text
