#include "heed/engine/model_fingerprint.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "heed/base/hash.h"

namespace heed::engine {
namespace {

namespace fs = std::filesystem;

/// The bytes of a file that are hashed: its beginning, with the header of weights, and parts at
/// equal distances.
constexpr int64_t kBeginning = int64_t{1} << 16, kPart = 1 << 12, kParts = 64;

uint64_t hash_of_part(uint64_t hash, std::ifstream& file, int64_t begin, int64_t size) {
  std::string bytes(static_cast<size_t>(size), '\0');
  file.clear();
  file.seekg(begin);
  file.read(bytes.data(), size);
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return hash_after(hash, bytes);
}

uint64_t hash_of_file(uint64_t hash, const fs::path& path) {
  const auto size = static_cast<int64_t>(fs::file_size(path));
  hash = hash_after(hash, path.filename().string()) ^ static_cast<uint64_t>(size);
  std::ifstream file(path, std::ios::binary);
  hash = hash_of_part(hash, file, 0, kBeginning);
  for (int64_t part = 1; part <= kParts; ++part)
    hash = hash_of_part(hash, file, std::max<int64_t>(0, (size - kPart) / kParts * part), kPart);
  return hash;
}

/// Whether a model is read from files of this kind; others, such as a README, may differ.
bool is_of_model(const fs::path& path) {
  constexpr std::array<std::string_view, 8> kinds{".json", ".safetensors", ".gguf",  ".model",
                                                  ".spm",  ".txt",         ".jinja", ".bin"};
  return std::ranges::find(kinds, path.extension().string()) != kinds.end();
}

uint64_t hash_of_files(uint64_t hash, const fs::path& path) {
  if (!fs::is_directory(path)) return hash_of_file(hash, path);
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path))
    if (entry.is_regular_file() && is_of_model(entry.path())) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files) hash = hash_of_file(hash, file);
  return hash;
}

}  // namespace

uint64_t fingerprint_of_files(const LoadedModel& model, uint64_t seed) {
  uint64_t hash = hash_of_files(seed, model.path);
  for (const AdapterOptions& adapter : model.options.adapters)
    hash = hash_of_files(hash, adapter.path);
  return hash;
}

}  // namespace heed::engine
