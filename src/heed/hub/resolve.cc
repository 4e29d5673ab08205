#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/quote.h"
#include "heed/hub.h"
#include "heed/hub/download.h"
#include "heed/hub/model_name.h"
#include "heed/hub/needed_files.h"
#include "heed/hub/settings.h"
#include "heed/hub/snapshot.h"

namespace heed {
namespace hub {
namespace {

/// Why a request failed, for a user: "ENDPOINT has no such model".
std::string explained(const RequestError& error, const Settings& settings, const ModelName& model) {
  const Response& response = error.response;
  if (response.outcome == Outcome::unreachable)
    return fmt::format("{} cannot be reached: {}", settings.endpoint, response.problem);
  if (response.outcome != Outcome::refused) return error.what();
  if (response.head.error_code == "RevisionNotFound")
    return fmt::format("{}/{} has no revision \"{}\"", settings.endpoint, model.repository,
                       model.revision);
  const bool no_token = settings.token.empty();
  if (response.head.error_code == "GatedRepo")
    return fmt::format("the model is gated: {} {}/{}{}",
                       no_token ? "accept its terms at" : "the token has no access to",
                       settings.endpoint, model.repository,
                       no_token ? " and set HF_TOKEN" : ", or its terms were not accepted");
  const int status = response.head.status;
  if (status == 401 || status == 403 || status == 404)
    return fmt::format(
        "{} has no such model, or {} (HTTP status {})", settings.endpoint,
        no_token ? "it is private and needs a token (HF_TOKEN)" : "the token may not read it",
        status);
  return error.what();
}

/// Records what the repository of a model lacks, so that the snapshot is known to be complete.
void mark_absent_files(const RepositoryCache& cache, const Listing& listing,
                       const ModelName& model) {
  if (!model.file.empty()) return;
  std::vector<std::string> files(settings_files().begin(), settings_files().end());
  if (listing.files.contains(kModulesFile))
    std::ranges::copy(module_settings(cache.snapshot(listing.commit) / kModulesFile),
                      std::back_inserter(files));
  for (const std::string& file : files)
    if (!listing.files.contains(file)) cache.mark_absent(listing.commit, file);
}

class Resolver {
 public:
  Resolver(ModelName model, Wanted wanted, const HubOptions& options)
      : model_(std::move(model)),
        wanted_(wanted),
        options_(options),
        settings_(settings_of(options)),
        cache_(settings_.cache, model_.repository) {}

  std::filesystem::path resolve();

 private:
  /// Lists `revision`, a commit or the model's revision, and downloads what the cache lacks of it.
  std::filesystem::path download(const std::string& revision);
  /// "OWNER/NAME is neither a path here nor in the cache DIRECTORY, and".
  std::string tried() const;

  const ModelName model_;
  const Wanted wanted_;
  const HubOptions& options_;
  const Settings settings_;
  const RepositoryCache cache_;
};

std::string Resolver::tried() const {
  return fmt::format("{} is neither a path here nor in the cache {}, and", model_.repository,
                     settings_.cache.string());
}

std::filesystem::path Resolver::download(const std::string& revision) {
  Download download(settings_, options_, model_.repository, cache_);
  const Listing listing = download.list(revision);
  require_wanted(listing, model_, wanted_);
  download.fetch(listing, naming_files(listing, model_, wanted_), false);
  download.fetch(listing, wanted_files(listing, cache_, model_, wanted_), true);
  if (wanted_ != Wanted::adapter) mark_absent_files(cache_, listing, model_);
  // Last, so that a branch stands for a snapshot that is there.
  cache_.set_commit(model_.revision, listing.commit);
  return path_of(cache_, listing.commit, model_);
}

std::filesystem::path Resolver::resolve() {
  const std::optional<std::string> commit = cache_.commit_of(model_.revision);
  const Snapshot cached = commit ? state_of(cache_, *commit, model_, wanted_) : Snapshot::unusable;
  const bool usable = cached != Snapshot::unusable;
  if (cached == Snapshot::complete || (usable && settings_.offline))
    return path_of(cache_, *commit, model_);
  require(!settings_.offline, "{} the hub may not be asked (HF_HUB_OFFLINE)", tried());
  try {
    // A branch does not move while the cache can serve it.
    return download(usable ? *commit : model_.revision);
  } catch (const Cancelled&) {
    throw;
  } catch (const RequestError& error) {
    if (usable) return path_of(cache_, *commit, model_);
    fail("{} {}", tried(), explained(error, settings_, model_));
  } catch (const Error&) {
    if (usable) return path_of(cache_, *commit, model_);
    throw;
  }
}

}  // namespace
}  // namespace hub

std::filesystem::path resolve_model(const std::filesystem::path& name, const HubOptions& options) {
  if (path_exists(name)) return name;
  std::optional<hub::ModelName> model = hub::parse_model_name(name.native());
  if (!model) return name;
  const hub::Wanted wanted = options.weights ? hub::Wanted::model : hub::Wanted::settings;
  return hub::Resolver(std::move(*model), wanted, options).resolve();
}

std::filesystem::path resolve_adapter(const std::filesystem::path& name,
                                      const HubOptions& options) {
  if (path_exists(name)) return name;
  std::optional<hub::ModelName> adapter = hub::parse_model_name(name.native());
  if (!adapter) return name;
  require(adapter->file.empty(), "{}: an adapter is a repository, not a file of one",
          one_line(name.native()));
  return hub::Resolver(std::move(*adapter), hub::Wanted::adapter, options).resolve();
}

}  // namespace heed
