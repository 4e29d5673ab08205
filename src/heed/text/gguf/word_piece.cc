#include "heed/text/gguf/word_piece.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/reader_limits.h"
#include "heed/text/files/tokenizer_files.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

using io::GgufMetadata;

constexpr std::string_view kWordStart = "\u2581";

const std::string kTokens = "tokenizer.ggml.";

/// The pieces as vocab.txt has them.
std::vector<std::string> read_word_pieces(const GgufMetadata& metadata, const std::string& file) {
  const auto texts = metadata.get<std::vector<std::string_view>>(kTokens + "tokens");
  require(!texts.empty() && texts.size() < limits::kMaxTokenIds, "{}: {}tokens has {} pieces", file,
          kTokens, texts.size());
  std::vector<int64_t> types(texts.size(), SentencePieceProto::normal);
  if (metadata.contains(kTokens + "token_type"))
    types = metadata.get<std::vector<int64_t>>(kTokens + "token_type");
  require(types.size() == texts.size(), "{}: {} pieces have {} types", file, texts.size(),
          types.size());
  std::vector<std::string> pieces;
  for (size_t id = 0; id < texts.size(); ++id) {
    std::string_view text = texts[id];
    require(is_valid_utf8(text) && text.find('\n') == text.npos,
            "{}: piece {} is not valid UTF-8 on one line", file, id);
    const bool starts = text.starts_with(kWordStart);
    if (starts) text.remove_prefix(kWordStart.size());
    pieces.push_back(
        fmt::format("{}{}", starts || types[id] == SentencePieceProto::control ? "" : "##", text));
  }
  return pieces;
}

/// A special token's piece; llama.cpp's default is that of the published BERT.
std::string special_piece(const GgufMetadata& metadata, const std::string& name, int64_t otherwise,
                          const std::vector<std::string>& pieces, const std::string& file) {
  const std::string key = fmt::format("{}{}_token_id", kTokens, name);
  const auto id = metadata.get_or<int64_t>(key, otherwise);
  require(id >= 0 && id < std::ssize(pieces), "{}: {} is {}, the vocabulary has {}", file, key, id,
          pieces.size());
  return pieces[static_cast<size_t>(id)];
}

}  // namespace

Tokenizer read_gguf_word_piece(const GgufMetadata& metadata, const std::string& file) {
  const std::vector<std::string> pieces = read_word_pieces(metadata, file);
  const auto special = [&](const char* name, int64_t otherwise) {
    return special_piece(metadata, name, otherwise, pieces, file);
  };
  SpecialTokenNames names;
  names.unk = special("unknown", 100);
  names.cls = special(metadata.contains(kTokens + "cls_token_id") ? "cls" : "bos", 101);
  names.sep = special("seperator", 102);  // spelled so in the files
  names.pad = special("padding", 0);
  names.mask = special("mask", 103);
  BertNormalizerOptions cleaning;
  cleaning.lowercase = metadata.get_or(kTokens + "normalizer.lowercase", true);
  cleaning.strip_accents =
      metadata.get_or(kTokens + "normalizer.strip_accents", cleaning.lowercase);
  Vocabulary vocabulary;
  std::string lines;
  for (const std::string& piece : pieces) {
    vocabulary.add(piece, static_cast<int32_t>(vocabulary.end()));
    lines += piece + '\n';
  }
  TokenizerParts parts = word_piece_parts(std::move(vocabulary), cleaning, *names.unk);
  const auto id = [&](const std::string& piece) {
    return std::vector<int32_t>{*parts.model->vocabulary().find(piece)};
  };
  parts.post_processor = PostProcessor::around(id(*names.cls), id(*names.sep), PairLayout::bert);
  for (const auto& name : {names.pad, names.unk, names.cls, names.sep, names.mask})
    parts.added_tokens.push_back(special_token(*name));
  const nlohmann::json config = {{"tokenizer_class", "BertTokenizer"},
                                 {"do_lower_case", cleaning.lowercase},
                                 {"strip_accents", cleaning.strip_accents},
                                 {"unk_token", *names.unk},
                                 {"cls_token", *names.cls},
                                 {"sep_token", *names.sep},
                                 {"pad_token", *names.pad},
                                 {"mask_token", *names.mask}};
  return Tokenizer::from_parts(std::move(parts), names,
                               Tokenizer::Files{{"vocab.txt", std::move(lines)},
                                                {"tokenizer_config.json", dump_json(config)}});
}

}  // namespace heed::text
