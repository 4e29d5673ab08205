#include "heed/io/marian_files.h"

#include <algorithm>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/io/flat_yaml.h"

namespace heed::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDecoderSettings = "decoder.yml";

/// The files with this ending, in alphabetical order, without those of the optimizer.
std::vector<fs::path> files_ending(const fs::path& directory, std::string_view ending) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(ending) && !name.ends_with(".optimizer.npz")) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

/// decoder.yml, or the settings beside the weights, of which there may be several: those of the
/// best and of the last ones.
std::optional<fs::path> decoder_settings(const fs::path& directory) {
  if (path_exists(directory / kDecoderSettings)) return directory / kDecoderSettings;
  const std::vector<fs::path> found = files_ending(directory, ".npz.decoder.yml");
  if (found.size() == 1) return found.front();
  const fs::path usual = directory / "model.npz.decoder.yml";
  return path_exists(usual) ? std::optional(usual) : std::nullopt;
}

/// The file of a list that settings name, looked up in the directory: they may have been moved.
fs::path named_file(const fs::path& directory, const FlatYaml& settings, const std::string& name) {
  const fs::path file = directory / fs::path(name).filename();
  require(path_exists(file), "{} names {}, which is not in {}", settings.file(), name,
          directory.string());
  return file;
}

fs::path only_file(const fs::path& directory, const std::vector<fs::path>& found,
                   const char* what) {
  std::vector<std::string> names;
  for (const fs::path& file : found) names.push_back(file.filename().string());
  require(found.size() == 1, "{} has {} files of {}{}: {} says which", directory.string(),
          found.size(), what, names.empty() ? "" : fmt::format(" ({})", fmt::join(names, ", ")),
          kDecoderSettings);
  return found.front();
}

void take_vocabularies(const fs::path& directory, const FlatYaml& settings, MarianFiles& files) {
  const auto names = settings.list("vocabs");
  require(names && names->size() == 2, "{}: vocabs has {} files, expected that of each language",
          settings.file(), names ? names->size() : 0);
  files.source_vocabulary = named_file(directory, settings, names->front());
  files.target_vocabulary = named_file(directory, settings, names->back());
}

}  // namespace

std::optional<MarianFiles> MarianFiles::find(const fs::path& directory) {
  if (!path_is_directory(directory) || path_exists(directory / "config.json")) return {};
  const std::vector<fs::path> weights = files_ending(directory, ".npz");
  if (weights.empty()) return {};
  MarianFiles files;
  if (const auto path = decoder_settings(directory)) {
    const FlatYaml settings(*path);
    const auto models = settings.list("models");
    require(models && models->size() == 1,
            "{}: models has {} files, expected one: heed reads no ensembles", settings.file(),
            models ? models->size() : 0);
    files.weights = named_file(directory, settings, models->front());
    take_vocabularies(directory, settings, files);
    return files;
  }
  const fs::path usual = directory / "model.npz";
  files.weights = path_exists(usual) ? usual : only_file(directory, weights, "weights (.npz)");
  for (const char* ending : {"vocab.yml", "vocab.spm"}) {
    const std::vector<fs::path> found = files_ending(directory, ending);
    if (found.empty()) continue;
    files.source_vocabulary = files.target_vocabulary = only_file(directory, found, "a vocabulary");
    return files;
  }
  fail("{} has {}, and no vocabulary beside it (vocab.yml, vocab.spm)", directory.string(),
       files.weights.filename().string());
}

}  // namespace heed::io
