#include "heed/base/error.h"
#include "heed/text/files/tokenizer_files.h"
#include "heed/text/models/sentencepiece_model.h"

namespace heed::text {
namespace {

using Proto = SentencePieceProto;

/// XLM-RoBERTa's ids: fairseq's special pieces replace <unk>, <s> and </s>. One that the files say
/// there is none of keeps its id and stands for no text.
void renumber_as_fairseq(Proto& proto, const std::string& name, const SpecialTokenNames& names) {
  require(proto.pieces.size() >= 3, "{} has {} pieces, expected at least 3", name,
          proto.pieces.size());
  const auto piece_of = [](const std::optional<std::string>& own, const char* otherwise,
                           Proto::Type type) -> Proto::Piece {
    const std::string text = own.value_or(otherwise);
    return {text, 0, text.empty() ? Proto::unused : type};
  };
  std::vector<Proto::Piece> pieces{
      piece_of(names.bos, "<s>", Proto::control), piece_of(names.pad, "<pad>", Proto::control),
      piece_of(names.eos, "</s>", Proto::control), piece_of(names.unk, "<unk>", Proto::unknown)};
  std::move(proto.pieces.begin() + 3, proto.pieces.end(), std::back_inserter(pieces));
  pieces.push_back(piece_of(names.mask, "<mask>", Proto::control));
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
  require(proto.kind == Proto::Kind::unigram || proto.kind == Proto::Kind::bpe,
          "{}: the model type is {}, expected unigram (1) or bpe (2)", name,
          static_cast<int>(proto.kind));
  if (proto.kind == Proto::Kind::unigram) {
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

std::unique_ptr<Decoder> make_sentencepiece_decoder(int64_t leading_spaces) {
  std::vector<std::unique_ptr<Decoder>> parts;
  parts.push_back(make_replace_decoder(Regex::literal("\u2581"), " "));
  parts.push_back(make_byte_fallback_decoder());
  parts.push_back(make_fuse_decoder());
  if (leading_spaces > 0) parts.push_back(make_strip_decoder(" ", leading_spaces, 0));
  return make_decoder_sequence(std::move(parts));
}

TokenizerParts read_library_parts(const std::string& serialized, const std::string& name,
                                  SpacePrefix prefix) {
  Proto proto = Proto::read(serialized, name);
  if (prefix == SpacePrefix::none) proto.add_dummy_prefix = false;
  TokenizerParts parts;
  for (const auto& piece : proto.pieces)
    if (piece.type == Proto::control || piece.type == Proto::unknown)
      parts.added_tokens.push_back(special_token(piece.text));
  parts.model = make_sentencepiece_model(proto, name);
  constexpr int64_t kAll = int64_t{1} << 40;
  parts.decoder = make_sentencepiece_decoder(proto.remove_extra_whitespaces ? kAll
                                             : proto.add_dummy_prefix       ? 1
                                                                            : 0);
  if (proto.has_denormalizer)
    parts.warnings.push_back(fmt::format(
        "{}: denormalizer_spec has a table and is ignored: decoded text is left as it is", name));
  if (prefix == SpacePrefix::of_text && proto.add_dummy_prefix &&
      !proto.treat_whitespace_as_suffix) {
    proto.add_dummy_prefix = false;
    MetaspaceOptions options;
    options.prepend = MetaspaceOptions::Prepend::first;
    options.split = false;
    parts.pre_tokenizer = make_metaspace(options);
  }
  parts.normalizer = make_sentencepiece_normalizer(proto, name);
  return parts;
}

TokenizerParts read_sentencepiece_parts(const std::string& serialized, const std::string& name,
                                        PieceIds ids, const SpecialTokenNames& names) {
  Proto proto = Proto::read(serialized, name);
  if (ids == PieceIds::fairseq) renumber_as_fairseq(proto, name, names);
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
  parts.decoder = make_sentencepiece_decoder(proto.add_dummy_prefix ? 1 : 0);
  return parts;
}

}  // namespace heed::text
