#pragma once

#include <filesystem>
#include <optional>

namespace heed::io {

/// The files of a directory as Marian itself trains and loads models
/// (https://marian-nmt.github.io), and as OPUS-MT publishes them beside the converted ones: the
/// weights in a .npz, and what splits texts into pieces.
struct MarianFiles {
  std::filesystem::path weights;
  /// SentencePiece models (.spm), or YAML with the numbers of pieces; both may be the same file.
  std::filesystem::path source_vocabulary, target_vocabulary;

  /// Nothing if the directory has a config.json, which is that of transformers, or no such model.
  /// The files are those that decoder.yml or FILE.npz.decoder.yml names, in the directory itself,
  /// else model.npz, vocab.spm and the like. Throws Error when a file that is needed is missing, or
  /// when there are several models.
  static std::optional<MarianFiles> find(const std::filesystem::path& directory);
};

}  // namespace heed::io
