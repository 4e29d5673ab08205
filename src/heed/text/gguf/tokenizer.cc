#include "heed/text/gguf/tokenizer.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/reader_limits.h"
#include "heed/text/files/bpe_json.h"
#include "heed/text/files/tokenizer_files.h"
#include "heed/text/gguf/word_piece.h"
#include "heed/text/pre_tokenizers/named_patterns.h"
#include "heed/text/text_size.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

using io::GgufMetadata;
using Proto = SentencePieceProto;  // its types of pieces are those of GGUF files

const std::string kPrefix = "tokenizer.ggml.";

/// What both kinds of tokenizers have. The texts are views of the mapped file.
struct Pieces {
  std::vector<std::string_view> texts;
  std::vector<int64_t> types;
  std::optional<int64_t> bos, eos, unknown, padding;
};

std::optional<int64_t> read_special_id(const GgufMetadata& metadata, const char* key, size_t pieces,
                                       const std::string& file) {
  if (!metadata.contains(kPrefix + key)) return std::nullopt;
  const auto id = metadata.get<int64_t>(kPrefix + key);
  // Some files store "none" as the largest number.
  if (id == 0xFFFFFFFF || id == -1) return std::nullopt;
  require(id >= 0 && id < static_cast<int64_t>(pieces), "{}: {}{} is {}, the vocabulary has {}",
          file, kPrefix, key, id, pieces);
  return id;
}

Pieces read_pieces(const GgufMetadata& metadata, const std::string& file) {
  Pieces pieces;
  pieces.texts = metadata.get<std::vector<std::string_view>>(kPrefix + "tokens");
  require(!pieces.texts.empty() && pieces.texts.size() < limits::kMaxTokenIds,
          "{}: {}tokens has {} pieces", file, kPrefix, pieces.texts.size());
  for (const std::string_view text : pieces.texts)
    if (!is_valid_utf8(text))
      fail("{}: the piece \"{}\" is not valid UTF-8", file, one_line(with_replacements(text)));
  if (metadata.contains(kPrefix + "token_type"))
    pieces.types = metadata.get<std::vector<int64_t>>(kPrefix + "token_type");
  else
    pieces.types.assign(pieces.texts.size(), Proto::normal);
  require(pieces.types.size() == pieces.texts.size(), "{}: {} pieces have {} types", file,
          pieces.texts.size(), pieces.types.size());
  const auto id = [&](const char* key) {
    return read_special_id(metadata, key, pieces.texts.size(), file);
  };
  pieces.bos = id("bos_token_id");
  pieces.eos = id("eos_token_id");
  // Encoders surround a text with these.
  if (!pieces.bos) pieces.bos = id("cls_token_id");
  if (!pieces.eos) pieces.eos = id("seperator_token_id");
  pieces.unknown = id("unknown_token_id");
  pieces.padding = id("padding_token_id");
  return pieces;
}

/// Old files say "prefix" where new ones say "fim_pre", and so on.
FillInMiddleTokens read_fill_in_middle(const GgufMetadata& metadata, const Pieces& pieces,
                                       const std::string& file) {
  const auto id = [&](std::initializer_list<const char*> roles) {
    std::optional<int32_t> found;
    for (const char* role : roles)
      if (!found)
        found = read_special_id(metadata, fmt::format("{}_token_id", role).c_str(),
                                pieces.texts.size(), file);
    return found;
  };
  return {.prefix = id({"fim_pre", "prefix"}),
          .suffix = id({"fim_suf", "suffix"}),
          .middle = id({"fim_mid", "middle"}),
          .repository = id({"fim_rep"}),
          .file = id({"fim_sep"})};
}

nlohmann::json added_tokens(const Pieces& pieces) {
  nlohmann::json tokens = nlohmann::json::array();
  for (size_t id = 0; id < pieces.texts.size(); ++id) {
    const int64_t type = pieces.types[id];
    if (type != Proto::control && type != Proto::user_defined && type != Proto::unknown) continue;
    tokens.push_back(added_token_json(id, pieces.texts[id], type != Proto::user_defined));
  }
  return tokens;
}

nlohmann::json vocabulary_of(const Pieces& pieces) {
  nlohmann::json vocabulary = nlohmann::json::object();
  for (size_t id = 0; id < pieces.texts.size(); ++id)
    vocabulary[std::string(pieces.texts[id])] = id;
  return vocabulary;
}

/// Between two texts there is one end-of-sequence token, or a second one (RoBERTa).
nlohmann::json template_around(const Pieces& pieces, bool add_bos, bool add_eos,
                               bool second_eos = false) {
  nlohmann::json parts = nlohmann::json::array(), special = nlohmann::json::object();
  const int segment = second_eos ? 0 : 1;
  const auto add = [&](const std::optional<int64_t>& id, bool wanted, int type = 0) {
    if (!wanted || !id) return;
    const std::string text(pieces.texts[static_cast<size_t>(*id)]);
    parts.push_back({{"SpecialToken", {{"id", text}, {"type_id", type}}}});
    special[text] = {{"id", text}, {"ids", {*id}}, {"tokens", {text}}};
  };
  const nlohmann::json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  add(pieces.bos, add_bos);
  parts.push_back(text);
  add(pieces.eos, add_eos);
  const nlohmann::json single = parts;
  add(pieces.eos, add_eos && second_eos);
  parts.push_back({{"Sequence", {{"id", "B"}, {"type_id", segment}}}});
  add(pieces.eos, add_eos, segment);
  return {{"type", "TemplateProcessing"},
          {"single", single},
          {"pair", parts},
          {"special_tokens", special}};
}

nlohmann::json skeleton(const Pieces& pieces) {
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added_tokens(pieces)},
          {"normalizer", nullptr}};
}

NamedSplit split_of(const GgufMetadata& metadata, const std::string& file) {
  return named_split(metadata.get_or<std::string>(kPrefix + "pre", "default"), file);
}

/// The tokenizer.json without the vocabulary and merges, which are large.
nlohmann::json byte_level_settings(const GgufMetadata& metadata, const Pieces& pieces,
                                   const std::string& file) {
  const NamedSplit split = split_of(metadata, file);
  const bool prefix_space = metadata.get_or<bool>(kPrefix + "add_space_prefix", false);
  nlohmann::json result = skeleton(pieces);
  result["pre_tokenizer"] = byte_level_pre_tokenizer(split, prefix_space);
  const bool add_sep = metadata.get_or<bool>(kPrefix + "add_sep_token", false);
  result["post_processor"] =
      template_around(pieces, metadata.get_or<bool>(kPrefix + "add_bos_token", split.add_bos),
                      metadata.get_or<bool>(kPrefix + "add_eos_token", false) || add_sep, add_sep);
  result["decoder"] = byte_level_step(prefix_space);
  result["model"] = bpe_model_json(std::nullopt, false, split.ignore_merges);
  return result;
}

std::vector<std::string_view> read_merges(const GgufMetadata& metadata, const std::string& file) {
  auto lines = metadata.get<std::vector<std::string_view>>(kPrefix + "merges");
  for (const std::string_view line : lines)
    require(is_valid_utf8(line), "{}: a merge is not valid UTF-8", file);
  return lines;
}

nlohmann::json byte_level_json(const GgufMetadata& metadata, const Pieces& pieces,
                               const std::string& file) {
  nlohmann::json result = byte_level_settings(metadata, pieces, file);
  result["model"]["vocab"] = vocabulary_of(pieces);
  for (const std::string_view line : read_merges(metadata, file)) {
    const auto [left, right] = read_merge(line, file);
    result["model"]["merges"].push_back({left, right});
  }
  return result;
}

/// The same tokenizer without the detour through JSON, which would dominate the time to the first
/// token.
TokenizerParts byte_level_parts(const GgufMetadata& metadata, const Pieces& pieces,
                                const std::string& file) {
  TokenizerParts parts = read_tokenizer_parts(byte_level_settings(metadata, pieces, file), file);
  Vocabulary vocabulary;
  vocabulary.reserve(pieces.texts.size());
  for (size_t id = 0; id < pieces.texts.size(); ++id)
    vocabulary.add(std::string(pieces.texts[id]), static_cast<int32_t>(id));
  BpeOptions options;
  options.ignore_merges = split_of(metadata, file).ignore_merges;
  const auto merges = merges_of_lines(vocabulary, read_merges(metadata, file), options, file);
  parts.model = make_bpe(std::move(vocabulary), merges, options);
  return parts;
}

/// Of each piece; without them, as llama.cpp has it, all are equal.
std::vector<double> read_scores(const GgufMetadata& metadata, const Pieces& pieces,
                                const std::string& file) {
  const std::string key = kPrefix + "scores";
  if (!metadata.contains(key)) return std::vector<double>(pieces.texts.size());
  auto scores = metadata.get<std::vector<double>>(key);
  require(scores.size() == pieces.texts.size(), "{}: {} pieces have {} scores", file,
          pieces.texts.size(), scores.size());
  for (size_t id = 0; id < scores.size(); ++id)
    require(std::isfinite(scores[id]), "{}: the score of piece {} is {}", file, id, scores[id]);
  return scores;
}

/// A SentencePiece BPE model: the rank of a merge is that of its score, so several may share one.
struct ScoredModel {
  Vocabulary vocabulary;
  std::vector<BpeMerge> merges;
  BpeOptions options;
};

ScoredModel scored_model(const GgufMetadata& metadata, const Pieces& pieces,
                         const std::string& file) {
  const std::vector<double> scores = read_scores(metadata, pieces, file);
  ScoredModel model;
  std::vector<std::optional<float>> of_merges;
  for (size_t id = 0; id < scores.size(); ++id) {
    model.vocabulary.add(std::string(pieces.texts[id]), static_cast<int32_t>(id));
    const bool merges =
        pieces.types[id] == Proto::normal || pieces.types[id] == Proto::user_defined;
    of_merges.push_back(merges ? std::optional(static_cast<float>(scores[id])) : std::nullopt);
  }
  model.merges = merges_of_scores(model.vocabulary, of_merges);
  std::stable_sort(model.merges.begin(), model.merges.end(),
                   [](const BpeMerge& a, const BpeMerge& b) { return a.rank < b.rank; });
  if (pieces.unknown) model.options.unknown = pieces.texts[static_cast<size_t>(*pieces.unknown)];
  model.options.fuse_unknown = true;
  model.options.byte_fallback = true;
  return model;
}

/// The tokenizer.json without vocabulary and merges.
nlohmann::json scored_settings(const GgufMetadata& metadata, const Pieces& pieces,
                               const BpeOptions& options) {
  const bool prefix = metadata.get_or<bool>(kPrefix + "add_space_prefix", true);
  nlohmann::json result = skeleton(pieces), normalizers = nlohmann::json::array();
  if (prefix) normalizers.push_back({{"type", "Prepend"}, {"prepend", "\u2581"}});
  normalizers.push_back(replace_step(" ", "\u2581"));
  result["normalizer"] = sequence_step("normalizers", std::move(normalizers));
  result["pre_tokenizer"] = nullptr;
  result["post_processor"] =
      template_around(pieces, metadata.get_or<bool>(kPrefix + "add_bos_token", true),
                      metadata.get_or<bool>(kPrefix + "add_eos_token", false));
  result["decoder"] = byte_fallback_decoder(prefix);
  result["model"] = bpe_model_json(options.unknown, true, false);
  return result;
}

nlohmann::json scored_json(const GgufMetadata& metadata, const Pieces& pieces,
                           const std::string& file) {
  const ScoredModel model = scored_model(metadata, pieces, file);
  nlohmann::json result = scored_settings(metadata, pieces, model.options);
  result["model"]["vocab"] = vocabulary_of(pieces);
  // "aaaa" can be "a" + "aaa" or "aa" + "aa": written out, merges may be far longer than the
  // pieces.
  size_t piece_bytes = 0, merge_bytes = 0;
  for (const std::string_view text : pieces.texts) piece_bytes += text.size();
  for (const BpeMerge& merge : model.merges) {
    const std::string &left = *model.vocabulary.piece(merge.left),
                      &right = *model.vocabulary.piece(merge.right);
    merge_bytes += left.size() + right.size();
    require(merge_bytes <= max_text_size(piece_bytes),
            "{}: the merges of {} bytes of pieces have more than {} bytes", file, piece_bytes,
            max_text_size(piece_bytes));
    result["model"]["merges"].push_back({left, right});
  }
  return result;
}

/// Built without tokenizer.json, whose list of merges cannot express equal ranks.
TokenizerParts scored_parts(const GgufMetadata& metadata, const Pieces& pieces,
                            const std::string& file) {
  ScoredModel model = scored_model(metadata, pieces, file);
  TokenizerParts parts =
      read_tokenizer_parts(scored_settings(metadata, pieces, model.options), file);
  parts.model = make_bpe(std::move(model.vocabulary), model.merges, model.options);
  return parts;
}

/// T5's: a unigram model of SentencePiece, whose pieces have the same types in GGUF files. Ids
/// beyond its own pieces are padding.
TokenizerParts unigram_parts(const GgufMetadata& metadata, const Pieces& pieces,
                             const std::string& file) {
  const std::vector<double> scores = read_scores(metadata, pieces, file);
  Proto proto;
  for (size_t id = 0; id < scores.size(); ++id) {
    proto.pieces.push_back({std::string(pieces.texts[id]), static_cast<float>(scores[id]),
                            static_cast<uint64_t>(pieces.types[id])});
  }
  proto.add_dummy_prefix = metadata.get_or<bool>(kPrefix + "add_space_prefix", true);
  proto.remove_extra_whitespaces =
      metadata.get_or<bool>(kPrefix + "remove_extra_whitespaces", true);
  if (const std::string key = kPrefix + "precompiled_charsmap"; metadata.contains(key))
    for (const int64_t byte : metadata.get<std::vector<int64_t>>(key))
      proto.charsmap.push_back(static_cast<char>(byte));
  TokenizerParts parts = sentencepiece_parts(proto, file);
  const auto id_if = [](bool wanted, const std::optional<int64_t>& id) {
    return wanted && id ? std::vector<int32_t>{static_cast<int32_t>(*id)} : std::vector<int32_t>();
  };
  // XLM-RoBERTa's texts begin with a token, T5's do not.
  const bool bos = metadata.get_or<bool>(kPrefix + "add_bos_token", false);
  parts.post_processor = PostProcessor::around(
      id_if(bos, pieces.bos),
      id_if(metadata.get_or<bool>(kPrefix + "add_eos_token", true), pieces.eos),
      bos ? PairLayout::roberta : PairLayout::repeated);
  return parts;
}

SpecialTokenNames names_of(const Pieces& pieces) {
  const auto name = [&](const std::optional<int64_t>& id) {
    return std::string(id ? pieces.texts[static_cast<size_t>(*id)] : std::string_view());
  };
  SpecialTokenNames names;
  names.bos = name(pieces.bos);
  names.eos = name(pieces.eos);
  names.unk = name(pieces.unknown);
  names.pad = name(pieces.padding);
  return names;
}

}  // namespace

Tokenizer read_gguf_tokenizer(const GgufMetadata& metadata, const std::string& file) {
  require(metadata.contains(kPrefix + "model"), "{} has no tokenizer: {}model is missing", file,
          kPrefix);
  const auto kind = metadata.get<std::string>(kPrefix + "model");
  if (kind == "bert") return read_gguf_word_piece(metadata, file);
  require(kind == "gpt2" || kind == "llama" || kind == "t5",
          "{}: the tokenizer \"{}\" is not known, expected gpt2, llama, t5 or bert", file,
          one_line(kind));
  const Pieces pieces = read_pieces(metadata, file);
  TokenizerParts parts;
  if (kind == "t5")
    return Tokenizer::from_parts(
        unigram_parts(metadata, pieces, file), names_of(pieces), [file]() -> Tokenizer::Files {
          fail("{}: a unigram tokenizer of a GGUF file cannot be saved on its own", file);
        });
  if (kind == "gpt2")
    parts = byte_level_parts(metadata, pieces, file);
  else
    parts = scored_parts(metadata, pieces, file);
  parts.fill_in_middle = read_fill_in_middle(metadata, pieces, file);
  return Tokenizer::from_parts(std::move(parts), names_of(pieces), [metadata, kind, file] {
    const Pieces again = read_pieces(metadata, file);
    const nlohmann::json whole = kind == "gpt2" ? byte_level_json(metadata, again, file)
                                                : scored_json(metadata, again, file);
    Tokenizer::Files files{{"tokenizer.json", dump_json(whole)}};
    const std::string chat_template = "tokenizer.chat_template";
    if (metadata.contains(chat_template))
      files.emplace_back("chat_template.jinja", metadata.get<std::string>(chat_template));
    return files;
  });
}

}  // namespace heed::text
