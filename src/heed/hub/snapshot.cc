#include "heed/hub/snapshot.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/base/split_files.h"
#include "heed/hub/needed_files.h"

namespace heed::hub {
namespace {

/// The GGUF files of a repository for a message, one for each split one.
std::string gguf_names(const Listing& listing) {
  constexpr size_t kMost = 40;
  std::vector<std::string> names;
  for (const auto& [file, unused] : listing.files)
    if (file.ends_with(".gguf") && split_files(file).front() == file) names.push_back(file);
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", one_line(names[i]));
  return names.size() > kMost ? fmt::format("{} and {} more", text, names.size() - kMost) : text;
}

/// The format of the weights that are listed; null: none that heed reads.
const WeightFiles* format_of(const Listing& listing) {
  const auto is_listed = [&](const std::string& file) { return listing.files.contains(file); };
  for (const WeightFiles& format : weight_formats())
    if (is_listed(format.index) || std::ranges::any_of(format.whole, is_listed)) return &format;
  return nullptr;
}

/// The file that holds an adapter's matrices; null: none that heed reads.
const std::string* adapter_weights_of(const Listing& listing) {
  for (const std::string& file : adapter_weights())
    if (listing.files.contains(file)) return &file;
  return nullptr;
}

/// The first file that holds weights in a format that heed does not read; empty: none.
std::string foreign_weights(const Listing& listing) {
  for (const auto& [file, unused] : listing.files)
    for (const char* end : {".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx"})
      if (file.ends_with(end)) return file;
  return {};
}

bool has_weights(const RepositoryCache& cache, const std::string& commit) {
  const auto is_cached = [&](const std::string& file) { return cache.has(commit, file); };
  return std::ranges::any_of(weight_formats(), [&](const WeightFiles& format) {
    if (std::ranges::any_of(format.whole, is_cached)) return true;
    return is_cached(format.index) &&
           std::ranges::all_of(shards_of(cache.snapshot(commit) / format.index, format), is_cached);
  });
}

void require_gguf(const Listing& listing, const ModelName& model) {
  for (const std::string& part : split_files(model.file)) {
    if (listing.files.contains(part)) continue;
    const std::string names = gguf_names(listing);
    fail("{} has no file {}; {}", model.repository, quoted(part),
         names.empty() ? "it has no GGUF files" : "its GGUF files are " + names);
  }
}

void require_weights(const Listing& listing, const ModelName& model) {
  if (format_of(listing)) return;
  const std::string foreign = foreign_weights(listing);
  require(foreign.empty(),
          "{} has weights only in a format that heed does not read, such as {}; heed reads "
          "safetensors, pytorch_model.bin and GGUF",
          model.repository, one_line(foreign));
  const WeightFiles &first = weight_formats().front(), &last = weight_formats().back();
  fail("{} has no weights: neither {} nor {}, nor {} or its index", model.repository,
       first.whole.front(), first.index, last.whole.front());
}

void require_adapter(const Listing& listing, const ModelName& adapter) {
  require(listing.files.contains(kAdapterConfigFile), "{} is not a LoRA adapter: it has no {}",
          adapter.repository, kAdapterConfigFile);
  require(adapter_weights_of(listing), "{} has neither {} nor {}", adapter.repository,
          adapter_weights().front(), adapter_weights().back());
}

}  // namespace

bool has_model(const RepositoryCache& cache, const std::string& commit) {
  return cache.has(commit, kConfigFile) && has_weights(cache, commit);
}

Snapshot state_of(const RepositoryCache& cache, const std::string& commit, const ModelName& model,
                  Wanted wanted) {
  const auto is_cached = [&](const std::string& file) { return cache.has(commit, file); };
  const auto is_known = [&](const std::string& file) {
    return is_cached(file) || cache.known_absent(commit, file);
  };
  if (!model.file.empty())
    return std::ranges::all_of(split_files(model.file), is_cached) ? Snapshot::complete
                                                                   : Snapshot::unusable;
  if (wanted == Wanted::adapter)
    return is_cached(kAdapterConfigFile) && std::ranges::any_of(adapter_weights(), is_cached)
               ? Snapshot::complete
               : Snapshot::unusable;
  if (!is_cached(kConfigFile) || (wanted == Wanted::model && !has_weights(cache, commit)))
    return Snapshot::unusable;
  const bool complete =
      std::ranges::all_of(settings_files(), is_known) &&
      (!is_cached(kModulesFile) ||
       std::ranges::all_of(
           module_files(cache.snapshot(commit) / kModulesFile, wanted == Wanted::model), is_known));
  return complete ? Snapshot::complete : Snapshot::usable;
}

std::filesystem::path path_of(const RepositoryCache& cache, const std::string& commit,
                              const ModelName& model) {
  const std::filesystem::path snapshot = cache.snapshot(commit);
  return model.file.empty() ? snapshot : snapshot / model.file;
}

void require_wanted(const Listing& listing, const ModelName& model, Wanted wanted) {
  if (wanted == Wanted::adapter) return require_adapter(listing, model);
  if (!model.file.empty()) return require_gguf(listing, model);
  const std::string names = gguf_names(listing);
  const bool config = listing.files.contains(kConfigFile);
  require(names.empty() || (config && format_of(listing)),
          "{} has GGUF files: name one of them, as in {}:FILE.gguf: {}", model.repository,
          model.repository, names);
  require(config, "{} is not a model that heed reads: it has no {}{}", model.repository,
          kConfigFile,
          listing.files.contains(kAdapterConfigFile) ? "; it is an adapter of a model" : "");
  if (wanted == Wanted::model) require_weights(listing, model);
}

std::vector<std::string> naming_files(const Listing& listing, const ModelName& model,
                                      Wanted wanted) {
  std::vector<std::string> files;
  if (!model.file.empty() || wanted == Wanted::adapter) return files;
  if (listing.files.contains(kModulesFile)) files.emplace_back(kModulesFile);
  const WeightFiles* const format = wanted == Wanted::model ? format_of(listing) : nullptr;
  if (format && std::ranges::none_of(format->whole, [&](const std::string& file) {
        return listing.files.contains(file);
      }))
    files.push_back(format->index);
  return files;
}

std::vector<std::string> wanted_files(const Listing& listing, const RepositoryCache& cache,
                                      const ModelName& model, Wanted wanted) {
  require_wanted(listing, model, wanted);
  if (!model.file.empty()) return split_files(model.file);
  if (wanted == Wanted::adapter) return {kAdapterConfigFile, *adapter_weights_of(listing)};
  std::vector<std::string> files;
  const auto add_if_listed = [&](const std::string& file) {
    if (listing.files.contains(file)) files.push_back(file);
    return listing.files.contains(file);
  };
  const std::filesystem::path snapshot = cache.snapshot(listing.commit);
  for (const std::string& file : settings_files()) add_if_listed(file);
  if (listing.files.contains(kModulesFile))
    for (const std::string& file : module_files(snapshot / kModulesFile, wanted == Wanted::model))
      add_if_listed(file);
  if (wanted == Wanted::settings) return files;
  const WeightFiles& format = *format_of(listing);
  if (std::ranges::any_of(format.whole, add_if_listed)) return files;
  add_if_listed(format.index);
  for (const std::string& shard : shards_of(snapshot / format.index, format))
    require(add_if_listed(shard), "{} has no file {}, which its {} names", model.repository,
            quoted(shard), format.index);
  return files;
}

}  // namespace heed::hub
