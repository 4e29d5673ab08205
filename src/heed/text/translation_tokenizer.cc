#include "heed/text/translation_tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/text/files/marian_vocabulary.h"
#include "heed/text/files/tokenizer_class.h"
#include "heed/text/files/tokenizer_files.h"

namespace heed::text {
namespace {

constexpr const char* kEndOfSequence = "</s>";
constexpr const char* kUnknownPiece = "<unk>";
// OPUS-MT's ">>fra<<" is the language to translate into; heed's "<<eng>>" that of the source.
constexpr std::string_view kCodeBegin = ">>", kCodeEnd = "<<";

int32_t id_of(const PieceNames& names, std::string_view piece) {
  const auto found = std::find(names.begin(), names.end(), piece);
  require(found != names.end(), "the vocabulary has no {}", piece);
  return static_cast<int32_t>(found - names.begin());
}

/// The languages whose tokens begin and end with these.
LanguageTokens::Codes codes_between(const PieceNames& names, std::string_view begin,
                                    std::string_view end) {
  LanguageTokens::Codes codes;
  for (size_t id = 0; id < names.size(); ++id)
    if (std::string_view name = names[id];
        name.starts_with(begin) && name.ends_with(end) && name.size() > begin.size() + end.size())
      codes.emplace_back(name.substr(begin.size(), name.size() - begin.size() - end.size()),
                         static_cast<int32_t>(id));
  return codes;
}

/// OPUS-MT's languages, and heed's, are pieces of the vocabulary.
LanguageTokens marian_languages(const PieceNames& names) {
  LanguageTokens::Codes targets = codes_between(names, kCodeBegin, kCodeEnd);
  if (targets.empty()) return {};
  LanguageTokens::Codes sources = codes_between(names, kCodeEnd, kCodeBegin);
  if (sources.empty()) return {LanguageTokens::Layout::target_in_source, std::move(targets)};
  return {std::move(targets), std::move(sources)};
}

std::string vocabulary_json(const PieceNames& names) {
  nlohmann::ordered_json vocabulary = nlohmann::ordered_json::object();
  // Looking each name up among those already there, as operator[] does, is quadratic.
  auto& entries = vocabulary.get_ref<nlohmann::ordered_json::object_t&>();
  for (size_t id = 0; id < names.size(); ++id) entries.emplace_back(names[id], id);
  return dump_json(vocabulary, {.indent = 0}) + "\n";
}

/// `target` may be the same as `source`.
TranslationTokenizer::Files marian_files(const MarianVocabulary& source,
                                         const MarianVocabulary& target) {
  const bool separate = source.names != target.names;
  const nlohmann::json settings = {{"tokenizer_class", "MarianTokenizer"},
                                   {"eos_token", kEndOfSequence},
                                   {"unk_token", kUnknownPiece},
                                   {"pad_token", kMarianPad},
                                   {"separate_vocabs", separate}};
  TranslationTokenizer::Files files{
      {"tokenizer_config.json", dump_json(settings, {.indent = 2}) + "\n"},
      {"source.spm", source.pieces.serialized()},
      {"target.spm", target.pieces.serialized()},
      {"vocab.json", vocabulary_json(*source.names)}};
  if (separate) files.emplace_back("target_vocab.json", vocabulary_json(*target.names));
  return files;
}

}  // namespace

TranslationTokenizer::TranslationTokenizer(std::shared_ptr<const TranslationPieces> pieces,
                                           int32_t eos, LanguageTokens languages, Files files)
    : pieces_(std::move(pieces)),
      files_(std::make_shared<const Files>(std::move(files))),
      eos_(eos),
      languages_(std::move(languages)) {}

bool TranslationTokenizer::exists(const std::filesystem::path& directory) {
  return path_exists(directory / "source.spm") || io::MarianFiles::find(directory);
}

TranslationTokenizer TranslationTokenizer::load(const std::filesystem::path& directory) {
  if (const auto files = io::MarianFiles::find(directory)) return load_native(directory, *files);
  if (exists(directory)) return load_marian(directory);
  require(is_multilingual(directory),
          "{} is not the directory of a translation model: it has no source.spm",
          directory.string());
  return load_multilingual(directory);
}

TranslationTokenizer TranslationTokenizer::load_marian(const std::filesystem::path& directory) {
  TokenizerFiles files(directory);
  const auto source =
      SentencePiece::from_bytes(files.take_required("source.spm"), files.path_of("source.spm"));
  const auto target =
      SentencePiece::from_bytes(files.take_required("target.spm"), files.path_of("target.spm"));
  const auto read = [&](const char* name) {
    return std::make_shared<const PieceNames>(
        read_piece_names(files.take_required(name), files.path_of(name)));
  };
  const auto names = read("vocab.json");
  const auto target_names =
      files.option("separate_vocabs", false) ? read("target_vocab.json") : names;
  auto pieces = sentencepiece_pairs(source, target, names, target_names);
  const std::string end = files.token_of_role("eos_token", kEndOfSequence);
  const int32_t eos = id_of(*names, end);
  require(id_of(*target_names, end) == eos,
          "{}: {} has another number than in vocab.json, which is {}",
          files.path_of("target_vocab.json"), quoted(end), eos);
  if (const auto unknown = files.token_of_role("unk_token", kUnknownPiece);
      unknown != kUnknownPiece)
    files.warn(fmt::format("{}: unk_token is {} and is ignored: <unk> stands for unknown text",
                           files.path_of("tokenizer_config.json"), quoted(unknown)));
  check_tokenizer_config(files, nullptr);
  TranslationTokenizer result(std::move(pieces), eos, marian_languages(*names),
                              std::move(files).taken());
  result.warnings_ = files.warnings();
  return result;
}

TranslationTokenizer TranslationTokenizer::shared(const SentencePiece& pieces,
                                                  const std::vector<std::string>& targets,
                                                  const std::vector<std::string>& sources) {
  PieceNames names;
  for (int32_t id = 0; id < pieces.vocab_size(); ++id) names.push_back(pieces.piece(id));
  for (const std::string& code : targets)
    names.push_back(fmt::format("{}{}{}", kCodeBegin, code, kCodeEnd));
  for (const std::string& code : sources)
    names.push_back(fmt::format("{}{}{}", kCodeEnd, code, kCodeBegin));
  const auto kept = std::make_shared<const PieceNames>(std::move(names));
  auto pairs = sentencepiece_pairs(pieces, pieces, kept, kept);
  const MarianVocabulary both{pieces, kept};
  return {std::move(pairs), id_of(*kept, kEndOfSequence), marian_languages(*kept),
          marian_files(both, both)};
}

TranslationTokenizer TranslationTokenizer::load_native(const std::filesystem::path& directory,
                                                       const io::MarianFiles& files) {
  const auto [source, target] = read_marian_vocabularies(directory, files);
  const int32_t eos = id_of(*source.names, kEndOfSequence);
  require(id_of(*target.names, kEndOfSequence) == eos,
          "{}: {} has another number than in {}, which is {}", files.target_vocabulary.string(),
          quoted(kEndOfSequence), files.source_vocabulary.string(), eos);
  auto pairs = sentencepiece_pairs(source.pieces, target.pieces, source.names, target.names);
  return {std::move(pairs), eos, marian_languages(*source.names), marian_files(source, target)};
}

std::pair<std::string_view, std::string_view> TranslationTokenizer::split_language(
    std::string_view text) const {
  if (languages_.layout() != LanguageTokens::Layout::target_in_source ||
      !text.starts_with(kCodeBegin))
    return {"", text};
  const size_t end = text.find(kCodeEnd, kCodeBegin.size());
  if (end == std::string_view::npos) return {"", text};
  return {text.substr(kCodeBegin.size(), end - kCodeBegin.size()),
          text.substr(end + kCodeEnd.size())};
}

std::vector<int32_t> TranslationTokenizer::encode_source(std::string_view text) const {
  const auto [code, rest] = split_language(text);
  std::vector<int32_t> tokens = pieces_->source(rest);
  if (!code.empty())
    tokens.insert(tokens.begin(), *languages_.target({.source = "", .target = std::string(code)}));
  tokens.push_back(eos_);
  return tokens;
}

std::vector<int32_t> TranslationTokenizer::encode_target(std::string_view text) const {
  std::vector<int32_t> tokens = pieces_->target(text);
  tokens.push_back(eos_);
  return tokens;
}

std::vector<int32_t> TranslationTokenizer::encode_source(std::string_view text,
                                                         const LanguagePair& pair) const {
  using enum LanguageTokens::Layout;
  std::vector<int32_t> tokens = encode_source(text);
  require_input(!languages_.source_codes().empty() || pair.source.empty(),
                "the source language is {}, but this model has no choice of it",
                quoted(pair.source));
  require_input(!languages_.empty() || pair.target.empty(),
                "the target language is {}, but this model has no choice of it",
                quoted(pair.target));
  if (languages_.empty()) return tokens;
  const LanguageTokens::Layout layout = languages_.layout();
  if (layout != target_in_source) {
    const auto language = languages_.source(pair);
    if (!language) languages_.fail_missing("source");
    const bool first = layout == source_first || layout == both_in_source;
    tokens.insert(first ? tokens.begin() : tokens.end(), *language);
  }
  if (layout == both_in_source ||
      (layout == target_in_source && !languages_.contains(tokens.front()))) {
    const auto language = languages_.target(pair);
    if (!language) languages_.fail_missing("target");
    tokens.insert(tokens.begin(), *language);
  }
  return tokens;
}

std::vector<int32_t> TranslationTokenizer::encode_target(std::string_view text,
                                                         const LanguagePair& pair) const {
  std::vector<int32_t> tokens = encode_target(text);
  if (languages_.empty() || languages_.in_source()) return tokens;
  const auto language = languages_.target(pair);
  if (!language) languages_.fail_missing("target");
  const bool last = languages_.layout() == LanguageTokens::Layout::target_starts;
  tokens.insert(last ? tokens.end() : tokens.begin(), *language);
  return tokens;
}

std::vector<int32_t> TranslationTokenizer::start_of_target(const LanguagePair& pair, int32_t start,
                                                           int32_t forced) const {
  using enum LanguageTokens::Layout;
  if (languages_.empty() || languages_.in_source()) return {start};
  const auto language = languages_.target(pair);
  if (languages_.layout() == target_starts) {
    if (!language && !languages_.contains(start)) languages_.fail_missing("target");
    return {language.value_or(start)};
  }
  if (!language && forced < 0) languages_.fail_missing("target");
  return {start, language.value_or(forced)};
}

std::pair<size_t, size_t> TranslationTokenizer::text_of(std::span<const int32_t> source) const {
  size_t first = 0, last = source.size();
  while (first < last && is_special(source[first])) ++first;
  while (last > first && is_special(source[last - 1])) --last;
  return {first, last};
}

}  // namespace heed::text
