#include "heed/text/files/marian_vocabulary.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/parse_number.h"
#include "heed/base/quote.h"
#include "heed/io/flat_yaml.h"

namespace heed::text {
namespace {

namespace fs = std::filesystem;

bool is_sentencepiece(const fs::path& file) { return file.extension() == ".spm"; }

SentencePiece read_sentencepiece(const fs::path& file) {
  return SentencePiece::from_bytes(read_file(file), file.string());
}

PieceNames names_of(const SentencePiece& pieces) {
  PieceNames names;
  for (int32_t id = 0; id < pieces.vocab_size(); ++id) names.push_back(pieces.piece(id));
  return names;
}

/// A mapping of n pieces to the numbers 0 to n - 1.
PieceNames read_numbers(const fs::path& file) {
  const io::FlatYaml yaml(file);
  PieceNames names(yaml.values().size());
  std::vector<bool> taken(names.size());
  for (const auto& [piece, value] : yaml.values()) {
    const std::string text = value.items.size() == 1 ? value.items.front() : "";
    const int64_t number = parse_number<int64_t>(text).value_or(-1);
    require(number >= 0 && number < std::ssize(names), "{}: {} has no number from 0 to {}",
            yaml.file(), quoted(piece), names.size() - 1);
    const auto place = static_cast<size_t>(number);
    require(!taken[place], "{}: {} and {} both have the number {}", yaml.file(), quoted(piece),
            quoted(names[place]), place);
    taken[place] = true;
    names[place] = piece;
  }
  return names;
}

MarianVocabulary read_side(const fs::path& directory, const fs::path& file, const char* spm) {
  const bool own = is_sentencepiece(file);
  require(own || file.extension() == ".yml" || file.extension() == ".yaml",
          "{} is no vocabulary that heed reads, expected .yml or .spm", file.string());
  const fs::path pieces = own ? file : directory / spm;
  require(path_exists(pieces),
          "{} numbers pieces, and {} is missing, which splits texts into them: heed reads models "
          "of SentencePiece's pieces",
          file.string(), pieces.string());
  MarianVocabulary side{.pieces = read_sentencepiece(pieces), .names = nullptr};
  PieceNames names = own ? names_of(side.pieces) : read_numbers(file);
  // Marian itself has no such piece; one of this name is never used.
  std::ranges::replace(names, std::string(kMarianPad), std::string("<unused-pad>"));
  names.push_back(kMarianPad);
  side.names = std::make_shared<const PieceNames>(std::move(names));
  return side;
}

}  // namespace

std::pair<MarianVocabulary, MarianVocabulary> read_marian_vocabularies(
    const fs::path& directory, const io::MarianFiles& files) {
  MarianVocabulary source = read_side(directory, files.source_vocabulary, "source.spm");
  MarianVocabulary target = read_side(directory, files.target_vocabulary, "target.spm");
  if (*source.names == *target.names) target.names = source.names;
  return {std::move(source), std::move(target)};
}

}  // namespace heed::text
