#include <nlohmann/json.hpp>
#include <sstream>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/text/decoders/decoder.h"
#include "heed/text/files/tokenizer_class.h"
#include "heed/text/files/tokenizer_files.h"
#include "heed/text/normalizers/normalizer.h"
#include "heed/text/pre_tokenizers/named_patterns.h"
#include "heed/text/pre_tokenizers/pre_tokenizer.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

AddedToken mask_token(std::string content) {
  AddedToken mask = special_token(std::move(content));
  mask.strip_left = true;
  return mask;
}

std::unique_ptr<PreTokenizer> qwen2_pre_tokenizer() {
  std::vector<std::unique_ptr<PreTokenizer>> parts;
  for (const std::string& pattern : named_split("qwen2", "Qwen2").patterns)
    parts.push_back(make_split(Regex(pattern, "Qwen2"), SplitBehavior::isolated, false));
  parts.push_back(make_byte_level({false, false}));
  return make_sequence(std::move(parts));
}

PostProcessor around(const TokenizerParts& parts, const std::vector<AddedToken>& added,
                     const std::string& before, const std::string& after, PairLayout pairs,
                     const std::string& file) {
  const AddedTokens tokens(added, *parts.model, parts.normalizer.get());
  const auto ids = [&](const std::string& piece) {
    if (piece.empty()) return std::vector<int32_t>{};
    auto id = tokens.find(piece);
    if (!id) id = parts.model->vocabulary().find(piece);
    require(id.has_value(), "{}: the special token {} is not in the vocabulary", file,
            quoted(piece));
    return std::vector<int32_t>{*id};
  };
  return PostProcessor::around(ids(before), ids(after), pairs);
}

/// How many <extra_id_0> ... T5 has.
int64_t sentinels_of(const TokenizerFiles& files) {
  constexpr int64_t kUsual = 100, kMost = 10000;
  const auto found = files.config().find("extra_ids");
  if (found == files.config().end() || found->is_null()) return kUsual;
  return integer_of(*found, "extra_ids", files.path_of("tokenizer_config.json"), 0, kMost);
}

SpacePrefix space_prefix_of(const TokenizerFiles& files) {
  if (!files.option("add_prefix_space", true)) return SpacePrefix::none;
  // transformers' default depends on the class.
  const bool legacy = files.option("legacy", !files.kind().starts_with("llamatokenizer"));
  return legacy ? SpacePrefix::of_parts : SpacePrefix::of_text;
}

/// A class that reads another file would have another vocabulary. One that only follows from the
/// model's type says nothing about the files.
void check_vocabulary_file(TokenizerFiles& files) {
  if (files.text_option("tokenizer_class").empty()) return;
  const TokenizerClass* own = find_tokenizer_class(files.tokenizer_class());
  if (own == nullptr || files.has_taken(own->vocabulary)) return;
  files.warn(fmt::format("{}: tokenizer_class is {} and is ignored: there is no {}",
                         files.path_of("tokenizer_config.json"), own->name, own->vocabulary));
}

}  // namespace

std::optional<TokenizerParts> read_vocab_and_merges(TokenizerFiles& files) {
  const auto vocabulary = files.take_json("vocab.json");
  if (!vocabulary) return std::nullopt;
  const auto merges = files.take("merges.txt");
  if (!merges) return std::nullopt;
  const std::string file = files.path_of("merges.txt"), kind = files.kind();
  const SpecialTokenNames& names = files.special_tokens();
  TokenizerParts parts;
  Vocabulary pieces = Vocabulary::read(*vocabulary, files.path_of("vocab.json"));
  const auto pairs = merges_of_pairs(pieces, read_merges_text(*merges, file), {}, file);
  parts.model = make_bpe(std::move(pieces), pairs, {});
  parts.decoder = make_byte_level_decoder();
  if (contains(kind, "qwen2")) {
    parts.normalizer = make_unicode_form(NormalForm::nfc);
    parts.pre_tokenizer = qwen2_pre_tokenizer();
  } else {
    parts.pre_tokenizer = make_byte_level({files.option("add_prefix_space", false), true});
  }
  if (contains(kind, "roberta") || contains(kind, "bart") || contains(kind, "longformer")) {
    const std::string bos = names.cls.value_or("<s>"), eos = names.sep.value_or("</s>");
    parts.added_tokens = files.added_tokens(
        {special_token(bos), special_token(names.pad.value_or("<pad>")), special_token(eos),
         special_token(names.unk.value_or("<unk>")), mask_token(names.mask.value_or("<mask>"))});
    parts.post_processor = around(parts, parts.added_tokens, bos, eos, PairLayout::roberta, file);
  } else {
    parts.added_tokens = files.added_tokens({special_token(names.eos.value_or("<|endoftext|>"))});
  }
  return parts;
}

/// The pieces of spm.model with the steps that the class puts around them. Like it, without the
/// file's table of characters.
std::optional<TokenizerParts> read_deberta_files(TokenizerFiles& files) {
  const auto bytes = files.take("spm.model");
  if (!bytes) return std::nullopt;
  const std::string file = files.path_of("spm.model");
  const TokenizerClass* const own = find_tokenizer_class("DebertaV2Tokenizer");
  require(find_tokenizer_class(files.tokenizer_class()) == own,
          "{}: tokenizer_class is {}, expected DebertaV2Tokenizer for this file", file,
          quoted(files.tokenizer_class()));
  const SpecialTokenNames& names = files.special_tokens();
  TokenizerParts parts = read_sentencepiece_parts(*bytes, file, PieceIds::own);
  nlohmann::json steps;
  own->build(steps, files);
  parts.normalizer = read_normalizer(steps["normalizer"], file);
  parts.pre_tokenizer = read_pre_tokenizer(steps["pre_tokenizer"], file);
  parts.decoder = read_decoder(steps["decoder"], file);
  const std::string cls = names.cls.value_or("[CLS]"), sep = names.sep.value_or("[SEP]");
  parts.added_tokens = files.added_tokens(
      {special_token(names.pad.value_or("[PAD]")), special_token(cls), special_token(sep),
       special_token(names.unk.value_or("[UNK]")), special_token(names.mask.value_or("[MASK]"))});
  parts.post_processor = around(parts, parts.added_tokens, cls, sep, PairLayout::bert, file);
  return parts;
}

std::optional<TokenizerParts> read_sentencepiece_files(TokenizerFiles& files) {
  const SpecialTokenNames& names = files.special_tokens();
  const std::string bos = names.bos.value_or("<s>"), eos = names.eos.value_or("</s>");
  const auto finish = [&](TokenizerParts parts, const std::string& before, const std::string& after,
                          PairLayout pairs, std::vector<AddedToken> more, const char* name) {
    const auto prefix = files.config().find("add_prefix_space");
    if (name != std::string_view("tokenizer.model") && prefix != files.config().end() &&
        *prefix != true)
      files.warn(fmt::format("{}: add_prefix_space is {} and is ignored: {} decides",
                             files.path_of("tokenizer_config.json"), excerpt(*prefix), name));
    std::vector<AddedToken> defaults = std::move(parts.added_tokens);
    std::move(more.begin(), more.end(), std::back_inserter(defaults));
    parts.added_tokens = files.added_tokens(std::move(defaults));
    // In normalised form they would begin with the space that is put before a text.
    for (AddedToken& token : parts.added_tokens) token.normalized = false;
    parts.post_processor =
        around(parts, parts.added_tokens, before, after, pairs, files.path_of(name));
    return parts;
  };
  if (const auto bytes = files.take("tokenizer.model")) {
    TokenizerParts parts =
        read_library_parts(*bytes, files.path_of("tokenizer.model"), space_prefix_of(files));
    // A model may have been trained without a BOS piece.
    const bool has_bos = names.bos || parts.model->vocabulary().find(bos);
    return finish(std::move(parts), files.option("add_bos_token", has_bos) ? bos : "",
                  files.option("add_eos_token", false) ? eos : "", PairLayout::repeated, {},
                  "tokenizer.model");
  }
  if (const auto bytes = files.take("spiece.model")) {
    require(files.tokenizer_class() != "AlbertTokenizer",
            "{}: heed reads AlbertTokenizer from tokenizer.json alone, which is missing",
            files.path_of("spiece.model"));
    std::vector<AddedToken> sentinels;
    if (files.kind().starts_with("t5") || files.kind().starts_with("mt5"))
      for (int64_t i = sentinels_of(files) - 1; i >= 0; --i)
        sentinels.push_back(special_token(fmt::format("<extra_id_{}>", i)));
    const PieceIds ids = files.kind().starts_with("pegasus") ? PieceIds::pegasus : PieceIds::own;
    return finish(read_sentencepiece_parts(*bytes, files.path_of("spiece.model"), ids), "", eos,
                  PairLayout::repeated, std::move(sentinels), "spiece.model");
  }
  if (const auto bytes = files.take("sentencepiece.bpe.model"))
    return finish(read_sentencepiece_parts(*bytes, files.path_of("sentencepiece.bpe.model"),
                                           PieceIds::fairseq, names),
                  bos, eos, PairLayout::roberta, {mask_token(names.mask.value_or("<mask>"))},
                  "sentencepiece.bpe.model");
  return std::nullopt;
}

std::optional<TokenizerParts> read_vocab_text(TokenizerFiles& files) {
  const auto text = files.take("vocab.txt");
  if (!text) return std::nullopt;
  const std::string file = files.path_of("vocab.txt");
  const SpecialTokenNames& names = files.special_tokens();
  Vocabulary pieces;
  std::istringstream lines(*text);
  int32_t id = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    require(is_valid_utf8(line), "{}: line {} is not valid UTF-8", file, id + 1);
    pieces.add(line, id++);
  }
  BertNormalizerOptions cleaning;
  cleaning.lowercase = files.option("do_lower_case", true);
  cleaning.chinese = files.option("tokenize_chinese_chars", true);
  cleaning.strip_accents = files.option("strip_accents", cleaning.lowercase);
  const std::string unknown = names.unk.value_or("[UNK]");
  const std::string cls = names.cls.value_or("[CLS]"), sep = names.sep.value_or("[SEP]");
  TokenizerParts parts = word_piece_parts(std::move(pieces), cleaning, unknown);
  parts.added_tokens = files.added_tokens(
      {special_token(names.pad.value_or("[PAD]")), special_token(unknown), special_token(cls),
       special_token(sep), special_token(names.mask.value_or("[MASK]"))});
  const PairLayout pairs = contains(files.kind(), "mpnet") ? PairLayout::roberta : PairLayout::bert;
  parts.post_processor = around(parts, parts.added_tokens, cls, sep, pairs, file);
  return parts;
}

TokenizerParts word_piece_parts(Vocabulary pieces, const BertNormalizerOptions& cleaning,
                                const std::string& unknown) {
  WordPieceOptions options;
  options.unknown = unknown;
  TokenizerParts parts;
  parts.normalizer = make_bert_normalizer(cleaning);
  parts.pre_tokenizer = make_bert_pre_tokenizer();
  parts.model = make_word_piece(std::move(pieces), options);
  parts.decoder = make_word_piece_decoder("##", true);
  return parts;
}

Tokenizer Tokenizer::load(const std::filesystem::path& model_directory) {
  TokenizerFiles files(model_directory);
  files.take(
      "chat_template.jinja");  // belongs to the tokenizer's files, which are saved with a model
  for (const auto read : {read_tokenizer_json, read_vocab_and_merges, read_sentencepiece_files,
                          read_deberta_files, read_vocab_text})
    if (auto parts = read(files)) {
      if (read != read_tokenizer_json) {
        check_tokenizer_config(files, nullptr);
        check_vocabulary_file(files);
      }
      parts->split_special_tokens = files.option("split_special_tokens", false);
      for (std::string& warning : files.warnings()) parts->warnings.push_back(std::move(warning));
      return from_parts(std::move(*parts), files.special_tokens(), std::move(files).taken());
    }
  fail(
      "{} has no tokenizer, expected tokenizer.json, or vocab.json and merges.txt, or "
      "tokenizer.model, spiece.model, sentencepiece.bpe.model, spm.model, or vocab.txt",
      model_directory.string());
}

}  // namespace heed::text
