#include "heed/checkpoint/copied_files.h"

#include <algorithm>
#include <array>
#include <string>

#include "heed/base/error.h"
#include "heed/base/file.h"

namespace heed::checkpoint {
namespace {

namespace fs = std::filesystem;

/// Whether a file, judging by its name, belongs to the tokenizer or the settings. An index of
/// shards does not.
bool is_copied(const fs::path& file) {
  // Weights in a .pt file are those of BGE-M3's heads.
  constexpr std::array kEnds{".json", ".txt", ".model", ".spm", ".jinja", "_linear.pt"};
  const std::string name = file.filename().string();
  if (name.ends_with(".index.json") || name == "config.json") return false;
  return std::any_of(kEnds.begin(), kEnds.end(),
                     [&](const char* end) { return name.ends_with(end); });
}

}  // namespace

std::vector<fs::path> copied_files(const fs::path& directory) {
  require(!path_exists(directory / "artifact.metadata"),
          "{}: heed does not write checkpoints of Stanford's ColBERT: save it with the "
          "MultiVectorEncoder of sentence-transformers first",
          directory.string());
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (entry.is_regular_file() && is_copied(entry.path()))
      files.push_back(entry.path().filename());
    if (!entry.is_directory() || !path_exists(directory / "modules.json")) continue;
    for (const char* const name : {"config.json", "model.safetensors", "pytorch_model.bin"})
      if (const fs::path file = entry.path().filename() / name; path_exists(directory / file))
        files.push_back(file);
  }
  return files;
}

}  // namespace heed::checkpoint
