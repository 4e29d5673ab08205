// The tokenizers of mBART, M2M-100 and NLLB.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/text/files/tokenizer_class.h"
#include "heed/text/files/tokenizer_files.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::text {
namespace {

using Layout = LanguageTokens::Layout;
using Codes = LanguageTokens::Codes;

constexpr const char* kPieces = "sentencepiece.bpe.model";
constexpr std::string_view kMark = "__";  // M2M-100's "__en__"

enum class Kind { none, mbart, mbart50, m2m100, nllb };

/// tokenizer_class says more than model_type, but may name a class for all models.
Kind kind_of(const std::filesystem::path& directory) {
  const auto text_of = [&](const char* name, const char* key) -> std::string {
    if (!path_exists(directory / name)) return "";
    const std::string file = (directory / name).string();
    const nlohmann::json json = parse_json(read_file(directory / name), file);
    return json.is_object() ? get_or<std::string>(json, key, "", file) : "";
  };
  const std::string type = text_of("config.json", "model_type");
  std::string own = text_of("tokenizer_config.json", "tokenizer_class");
  if (own.empty()) own = text_of("config.json", "tokenizer_class");
  if (own.starts_with("MBart50")) return Kind::mbart50;
  if (own.starts_with("MBart")) return Kind::mbart;
  if (own.starts_with("M2M100")) return Kind::m2m100;
  if (own.starts_with("Nllb")) return Kind::nllb;
  if (type == "mbart") return Kind::mbart;
  if (type != "m2m_100") return Kind::none;
  return path_exists(directory / "vocab.json") ? Kind::m2m100 : Kind::nllb;
}

/// Whether a special token is a language: "__en__", "en_XX" or "eng_Latn".
bool is_language(Kind kind, std::string_view token) {
  const auto all = [](std::string_view part, char first, char last) {
    return std::ranges::all_of(part, [&](char c) { return c >= first && c <= last; });
  };
  switch (kind) {
    case Kind::none:
      return false;
    case Kind::m2m100:
      return token.size() > 2 * kMark.size() && token.starts_with(kMark) && token.ends_with(kMark);
    case Kind::nllb:
      return token.size() == 8 && token[3] == '_' && all(token.substr(0, 3), 'a', 'z') &&
             all(token.substr(4, 1), 'A', 'Z') && all(token.substr(5), 'a', 'z');
    case Kind::mbart:
    case Kind::mbart50:
      return token.size() == 5 && token[2] == '_' && all(token.substr(0, 2), 'a', 'z') &&
             all(token.substr(3), 'A', 'Z');
  }
  return false;
}

std::string code_of(Kind kind, const std::string& token) {
  if (kind != Kind::m2m100) return token;
  return token.substr(kMark.size(), token.size() - 2 * kMark.size());
}

/// The languages' tokens in the order of their numbers: those of the published models, unless the
/// files list others.
std::vector<std::string> listed_languages(Kind kind, const TokenizerFiles& files) {
  std::vector<std::string> tokens;
  for (const AddedToken& token : files.more_special_tokens())
    if (is_language(kind, token.content)) tokens.push_back(token.content);
  if (kind == Kind::nllb) return tokens;
  const auto known = kind == Kind::m2m100    ? m2m100_languages()
                     : kind == Kind::mbart50 ? mbart50_languages()
                                             : mbart_languages();
  if (!tokens.empty() && tokens.size() != known.size()) return tokens;
  tokens.clear();
  for (const std::string_view code : known)
    tokens.push_back(kind == Kind::m2m100 ? fmt::format("{}{}{}", kMark, code, kMark)
                                          : std::string(code));
  return tokens;
}

/// The pieces of a SentencePiece model as fairseq numbers them: its special pieces first, then the
/// languages and <mask> after the others.
PieceNames fairseq_names(const SentencePiece& model, const std::vector<std::string>& languages,
                         const std::string& file) {
  constexpr int32_t kSpecial = 3;  // <unk>, <s> and </s>
  require(model.vocab_size() >= kSpecial, "{} has {} pieces, expected at least {}", file,
          model.vocab_size(), kSpecial);
  PieceNames names{"<s>", "<pad>", "</s>", "<unk>"};
  for (int32_t id = kSpecial; id < model.vocab_size(); ++id) names.push_back(model.piece(id));
  names.insert(names.end(), languages.begin(), languages.end());
  names.emplace_back("<mask>");
  return names;
}

/// vocab.json lacks the languages, whose numbers follow.
PieceNames m2m100_names(TokenizerFiles& files, const std::vector<std::string>& languages) {
  PieceNames names =
      read_piece_names(files.take_required("vocab.json"), files.path_of("vocab.json"));
  for (const std::string& token : languages)
    if (std::find(names.begin(), names.end(), token) == names.end()) names.push_back(token);
  return names;
}

Codes codes_among(Kind kind, const PieceNames& names, const std::vector<std::string>& languages) {
  Codes codes;
  for (size_t id = 0; id < names.size(); ++id)
    if (std::find(languages.begin(), languages.end(), names[id]) != languages.end())
      codes.emplace_back(code_of(kind, names[id]), static_cast<int32_t>(id));
  return codes;
}

/// Those of the special tokens, and those that the files list.
Codes codes_of(Kind kind, const Tokenizer& tokenizer, const std::vector<std::string>& listed) {
  Codes codes;
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id)
    if (tokenizer.is_special(id) && is_language(kind, tokenizer.piece(id)))
      codes.emplace_back(code_of(kind, tokenizer.piece(id)), id);
  if (!codes.empty()) return codes;
  for (const std::string& token : listed)
    if (const auto id = tokenizer.id_of(token)) codes.emplace_back(code_of(kind, token), *id);
  return codes;
}

Layout layout_of(Kind kind, const Codes& codes, const TokenizerFiles& files) {
  if (kind == Kind::nllb && files.option("legacy_behaviour", false)) return Layout::source_last;
  // Files without a tokenizer class may be of either mBART.
  const bool mbart = kind == Kind::mbart && codes.size() <= mbart_languages().size();
  return mbart ? Layout::target_starts : Layout::source_first;
}

}  // namespace

bool TranslationTokenizer::is_multilingual(const std::filesystem::path& directory) {
  return kind_of(directory) != Kind::none;
}

TranslationTokenizer TranslationTokenizer::load_multilingual(
    const std::filesystem::path& directory) {
  const Kind kind = kind_of(directory);
  TokenizerFiles files(directory);
  std::vector<std::string> warnings;
  const std::vector<std::string> listed = listed_languages(kind, files);
  const auto finish = [&](std::shared_ptr<const TranslationPieces> pieces,
                          std::optional<int32_t> eos, Codes codes, Files all) {
    require(eos.has_value(), "{}: the tokenizer has no end of sequence", directory.string());
    require(!codes.empty(), "{}: the tokenizer has no tokens of languages", directory.string());
    const Layout layout = layout_of(kind, codes, files);
    LanguageTokens languages(layout, std::move(codes),
                             {files.text_option("src_lang"), files.text_option("tgt_lang")});
    TranslationTokenizer result(std::move(pieces), *eos, std::move(languages), std::move(all));
    result.warnings_ = warnings;
    return result;
  };
  if (path_exists(directory / "tokenizer.json")) {
    Tokenizer tokenizer = Tokenizer::load(directory);
    Codes codes = codes_of(kind, tokenizer, listed);
    const auto eos = tokenizer.special_tokens().eos;
    Files all = tokenizer.files();
    warnings = tokenizer.warnings();
    return finish(tokenizer_pieces(std::move(tokenizer)), eos, std::move(codes), std::move(all));
  }
  check_tokenizer_config(files, nullptr);
  warnings = files.warnings();
  const std::string file = files.path_of(kPieces);
  auto bytes = files.take(kPieces);
  require(bytes.has_value(), "{} has neither tokenizer.json nor {}", directory.string(), kPieces);
  const SentencePiece model = SentencePiece::from_bytes(std::move(*bytes), file);
  auto names = std::make_shared<const PieceNames>(
      kind == Kind::m2m100 ? m2m100_names(files, listed) : fairseq_names(model, listed, file));
  Codes codes = codes_among(kind, *names, listed);
  const auto eos = std::find(names->begin(), names->end(), "</s>");
  const auto number = static_cast<int32_t>(eos - names->begin());
  return finish(sentencepiece_pairs(model, model, names, names),
                eos == names->end() ? std::nullopt : std::optional(number), std::move(codes),
                TokenizerFiles(files).taken());
}

}  // namespace heed::text
