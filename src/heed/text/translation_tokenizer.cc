#include "heed/text/translation_tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"

namespace heed::text {
namespace {

constexpr const char* kEndOfSequence = "</s>";
constexpr const char* kUnknownPiece = "<unk>";

std::vector<std::string> names_of_pieces(const SentencePiece& model) {
  std::vector<std::string> pieces;
  for (int32_t id = 0; id < model.vocab_size(); ++id) pieces.push_back(model.piece(id));
  return pieces;
}

/// vocab.json is an object that gives each piece its id; n pieces have the ids below n.
std::vector<std::string> read_vocabulary(const std::filesystem::path& path) {
  const std::string file = path.string();
  const nlohmann::json json = parse_json(read_file(path), file);
  require(json.is_object() && !json.empty(), "{}: expected an object of pieces", file);
  std::vector<std::string> pieces(json.size());
  std::vector<bool> taken(json.size());
  for (const auto& [piece, value] : json.items()) {
    const auto id = get<int64_t>(json, piece, file);
    if (id < 0 || id >= static_cast<int64_t>(json.size()))
      fail("{}: {} has the id {}, expected 0 to {}", file, quoted(piece), id, json.size() - 1);
    const auto place = static_cast<size_t>(id);
    if (taken[place])
      fail("{}: {} and {} both have the id {}", file, quoted(pieces[place]), quoted(piece), id);
    taken[place] = true;
    pieces[place] = piece;
  }
  return pieces;
}

using Numbers = std::unordered_map<std::string, int32_t>;

int32_t number_of(const Numbers& numbers, const std::string& piece, int32_t otherwise) {
  const auto found = numbers.find(piece);
  return found == numbers.end() ? otherwise : found->second;
}

std::vector<int32_t> translate_ids(const SentencePiece& model, const Numbers& numbers,
                                   int32_t unknown) {
  std::vector<int32_t> tokens;
  for (int32_t id = 0; id < model.vocab_size(); ++id)
    tokens.push_back(number_of(numbers, model.piece(id), unknown));
  return tokens;
}

}  // namespace

TranslationTokenizer::TranslationTokenizer(SentencePiece source, SentencePiece target,
                                           std::vector<std::string> pieces)
    : source_(std::move(source)), target_(std::move(target)), pieces_(std::move(pieces)) {
  Numbers numbers;
  for (size_t id = 0; id < pieces_.size(); ++id)
    numbers.emplace(pieces_[id], static_cast<int32_t>(id));
  eos_ = number_of(numbers, kEndOfSequence, -1);
  unknown_ = number_of(numbers, kUnknownPiece, -1);
  require(eos_ >= 0 && unknown_ >= 0, "the vocabulary has no {} or no {}", kEndOfSequence,
          kUnknownPiece);
  source_to_token_ = translate_ids(source_, numbers, unknown_);
  target_to_token_ = translate_ids(target_, numbers, unknown_);
  token_to_target_.assign(pieces_.size(), -1);
  for (size_t id = 0; id < target_to_token_.size(); ++id) {
    const int32_t token = target_to_token_[id];
    if (token != unknown_ && token != eos_)
      token_to_target_[static_cast<size_t>(token)] = static_cast<int32_t>(id);
  }
}

bool TranslationTokenizer::exists(const std::filesystem::path& directory) {
  return path_exists(directory / "source.spm");
}

TranslationTokenizer TranslationTokenizer::load(const std::filesystem::path& directory) {
  require(exists(directory), "{} is not the directory of a translation model: it has no source.spm",
          directory.string());
  return {SentencePiece::load(directory / "source.spm"),
          SentencePiece::load(directory / "target.spm"), read_vocabulary(directory / "vocab.json")};
}

TranslationTokenizer TranslationTokenizer::shared(const SentencePiece& pieces) {
  std::vector<std::string> names = names_of_pieces(pieces);
  return {pieces, pieces, std::move(names)};
}

std::vector<int32_t> TranslationTokenizer::encode_source(std::string_view text) const {
  std::vector<int32_t> tokens = source_.encode(text);
  for (int32_t& token : tokens) token = source_to_token_[static_cast<size_t>(token)];
  tokens.push_back(eos_);
  return tokens;
}

std::vector<int32_t> TranslationTokenizer::encode_target(std::string_view text) const {
  std::vector<int32_t> tokens = target_.encode(text);
  for (int32_t& token : tokens) token = target_to_token_[static_cast<size_t>(token)];
  tokens.push_back(eos_);
  return tokens;
}

std::string TranslationTokenizer::decode_target(std::span<const int32_t> tokens) const {
  std::vector<int32_t> ids;
  for (const int32_t token : tokens) {
    require(token >= 0 && token < vocab_size(), "token {} is outside the vocabulary of {}", token,
            vocab_size());
    const int32_t id = token_to_target_[static_cast<size_t>(token)];
    if (id >= 0) ids.push_back(id);
  }
  return target_.decode(ids);
}

const std::string& TranslationTokenizer::piece(int32_t token) const {
  require(token >= 0 && token < vocab_size(), "token {} is outside the vocabulary of {}", token,
          vocab_size());
  return pieces_[static_cast<size_t>(token)];
}

std::vector<std::pair<std::string, std::string>> TranslationTokenizer::files() const {
  nlohmann::ordered_json vocabulary = nlohmann::ordered_json::object();
  // Looking each name up among those already there, as operator[] does, is quadratic.
  auto& entries = vocabulary.get_ref<nlohmann::ordered_json::object_t&>();
  for (size_t id = 0; id < pieces_.size(); ++id) entries.emplace_back(pieces_[id], id);
  const nlohmann::json settings = {{"tokenizer_class", "MarianTokenizer"},
                                   {"eos_token", kEndOfSequence},
                                   {"unk_token", kUnknownPiece},
                                   {"pad_token", "<pad>"},
                                   {"separate_vocabs", false}};
  return {{"source.spm", source_.serialized()},
          {"target.spm", target_.serialized()},
          {"vocab.json", dump_json(vocabulary, {.indent = 0}) + "\n"},
          {"tokenizer_config.json", dump_json(settings, {.indent = 2}) + "\n"}};
}

}  // namespace heed::text
