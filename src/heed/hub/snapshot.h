#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/hub/cache_layout.h"
#include "heed/hub/listing.h"
#include "heed/hub/model_name.h"

namespace heed::hub {

/// What the cache holds of a model at a commit.
enum class Snapshot : uint8_t {
  unusable,
  /// Enough to open the model, but a file beside the weights that heed would read may be missing.
  usable,
  complete,
};

/// What is wanted of a repository.
enum class Wanted : uint8_t {
  settings,  // of a model: its configuration and its tokenizer
  model,
  adapter,
};

/// Throws Error when a cached index or modules.json is damaged.
Snapshot state_of(const RepositoryCache& cache, const std::string& commit, const ModelName& model,
                  Wanted wanted);

/// Whether the cache holds a configuration and weights that heed reads. Throws as state_of() does.
bool has_model(const RepositoryCache& cache, const std::string& commit);

/// The path of a cached model: the snapshot's directory or the GGUF file.
std::filesystem::path path_of(const RepositoryCache& cache, const std::string& commit,
                              const ModelName& model);

/// The files of a listed repository that are downloaded first, because they name others: the index
/// of the weights and modules.json, if they are wanted and listed.
std::vector<std::string> naming_files(const Listing& listing, const ModelName& model,
                                      Wanted wanted);

/// All listed files that heed reads, naming_files() included, which must be in the cache. Throws
/// Error, which says what there is instead, when the repository has no file of this name, no model
/// (or adapter, if that is wanted), or weights in other formats only.
std::vector<std::string> wanted_files(const Listing& listing, const RepositoryCache& cache,
                                      const ModelName& model, Wanted wanted);

/// Throws Error when wanted_files() would, as far as the listing alone can tell.
void require_wanted(const Listing& listing, const ModelName& model, Wanted wanted);

}  // namespace heed::hub
