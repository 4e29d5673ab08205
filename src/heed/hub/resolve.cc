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

/// Where sentence-transformers looks for a name without an owner.
constexpr const char* kEmbeddersOwner = "sentence-transformers";

/// The hub has no such model, or does not show it.
class NoSuchModel : public Error {
 public:
  using Error::Error;
};

/// Whether the hub answered that there is no such model.
bool says_no_such_model(const RequestError& error) {
  const ResponseHead& head = error.response.head;
  return error.response.outcome == Outcome::refused && head.error_code != "RevisionNotFound" &&
         head.error_code != "GatedRepo" &&
         (head.status == 401 || head.status == 403 || head.status == 404);
}

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
  if (says_no_such_model(error))
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
    std::ranges::copy(module_files(cache.snapshot(listing.commit) / kModulesFile, true),
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

  /// The path of what the cache holds, if that is all that is wanted or all that may be had.
  std::optional<std::filesystem::path> cached() const;
  /// Throws NoSuchModel, and other Errors.
  std::filesystem::path resolve();

  /// "OWNER/NAME is neither a path here nor in the cache DIRECTORY, and".
  std::string tried() const;
  /// What a name may be, for a name without an owner, which may be meant as something else.
  std::string forms() const;

 private:
  /// Lists `revision`, a commit or the model's revision, and downloads what the cache lacks of it.
  std::filesystem::path download(const std::string& revision);

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

std::string Resolver::forms() const {
  return has_owner(model_.repository) ? "" : fmt::format("; {}", kModelNameForms);
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

std::optional<std::filesystem::path> Resolver::cached() const {
  const std::optional<std::string> commit = cache_.commit_of(model_.revision);
  if (!commit) return std::nullopt;
  const Snapshot state = state_of(cache_, *commit, model_, wanted_);
  if (state == Snapshot::complete || (state == Snapshot::usable && settings_.offline))
    return path_of(cache_, *commit, model_);
  return std::nullopt;
}

std::filesystem::path Resolver::resolve() {
  if (const auto path = cached()) return *path;
  require(!settings_.offline, "{} the hub may not be asked (HF_HUB_OFFLINE){}", tried(), forms());
  const std::optional<std::string> commit = cache_.commit_of(model_.revision);
  const bool usable = commit && state_of(cache_, *commit, model_, wanted_) != Snapshot::unusable;
  try {
    // A branch does not move while the cache can serve it.
    return download(usable ? *commit : model_.revision);
  } catch (const Cancelled&) {
    throw;
  } catch (const RequestError& error) {
    if (usable) return path_of(cache_, *commit, model_);
    const std::string message =
        fmt::format("{} {}{}", tried(), explained(error, settings_, model_), forms());
    if (says_no_such_model(error)) throw NoSuchModel(message);
    fail("{}", message);
  } catch (const Error&) {
    if (usable) return path_of(cache_, *commit, model_);
    throw;
  }
}

/// A name without an owner: one of the hub's oldest models, which it redirects to their owners'
/// (gpt2), or one of sentence-transformers.
std::filesystem::path resolve_without_owner(const ModelName& model, Wanted wanted,
                                            const HubOptions& options) {
  ModelName embedder = model;
  embedder.repository = fmt::format("{}/{}", kEmbeddersOwner, model.repository);
  Resolver first(model, wanted, options), second(embedder, wanted, options);
  for (const Resolver* one : {&first, &second})
    if (const auto path = one->cached()) return *path;
  try {
    return first.resolve();
  } catch (const NoSuchModel&) {
  }
  try {
    return second.resolve();
  } catch (const NoSuchModel&) {
    fail("{} {} shows neither it nor {}{}", first.tried(), settings_of(options).endpoint,
         embedder.repository, first.forms());
  }
}

}  // namespace
}  // namespace hub

std::filesystem::path resolve_model(const std::filesystem::path& name, const HubOptions& options) {
  if (path_exists(name)) return name;
  std::optional<hub::ModelName> model = hub::parse_model_name(name.native());
  if (!model) return name;
  const hub::Wanted wanted = options.weights ? hub::Wanted::model : hub::Wanted::settings;
  if (hub::has_owner(model->repository))
    return hub::Resolver(std::move(*model), wanted, options).resolve();
  // A link that leads nowhere is a path.
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(name, ignored))) return name;
  return hub::resolve_without_owner(*model, wanted, options);
}

std::filesystem::path resolve_adapter(const std::filesystem::path& name,
                                      const HubOptions& options) {
  if (path_exists(name)) return name;
  std::optional<hub::ModelName> adapter = hub::parse_model_name(name.native());
  if (!adapter || !hub::has_owner(adapter->repository)) return name;
  require(adapter->file.empty(), "{}: an adapter is a repository, not a file of one",
          one_line(name.native()));
  return hub::Resolver(std::move(*adapter), hub::Wanted::adapter, options).resolve();
}

}  // namespace heed
