#pragma once

#include <filesystem>
#include <memory>

#include "heed/io/marian_files.h"
#include "heed/text/sentencepiece.h"
#include "heed/text/translation_pieces.h"

namespace heed::text {

/// What splits a side's texts into pieces, and the numbers of the pieces. Behind all others there
/// is a special piece, kMarianPad, with which decoders start: Marian's start without any.
struct MarianVocabulary {
  SentencePiece pieces;
  std::shared_ptr<const PieceNames> names;
};

/// As transformers calls it.
inline constexpr const char* kMarianPad = "<pad>";

/// Those of the source and of the target, which are the same object where the file is. The numbers
/// of YAML belong to the pieces of source.spm and target.spm. Throws Error that names the file.
std::pair<MarianVocabulary, MarianVocabulary> read_marian_vocabularies(
    const std::filesystem::path& directory, const io::MarianFiles& files);

}  // namespace heed::text
