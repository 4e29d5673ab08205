#pragma once

#include <string>
#include <vector>

#include "heed/hub/cache_layout.h"
#include "heed/hub/fetcher.h"
#include "heed/hub/listing.h"
#include "heed/hub/settings.h"

namespace heed::hub {

/// Downloads files of a listed commit into the cache.
class Download {
 public:
  /// The references must outlive the Download.
  Download(const Settings& settings, const HubOptions& options, const std::string& repository,
           const RepositoryCache& cache);

  /// Asks for the commit and the files of a revision. Follows a repository that has moved, as
  /// "gpt2" to its owner's. Throws RequestError and as parse_listing().
  Listing list(const std::string& revision);

  /// Makes those `files` of the listing that the cache lacks appear in its snapshot. Throws Error
  /// when the disk has too little room for them, RequestError, and when a file is not as listed.
  /// Reports progress if `report`.
  void fetch(const Listing& listing, const std::vector<std::string>& files, bool report);

 private:
  /// The response to the request for the list of source_'s files at a revision.
  std::string ask(const std::string& revision);
  /// "the list of files of OWNER/NAME".
  std::string listing_name() const;

  const Settings& settings_;
  const HubOptions& options_;
  const std::string& repository_;
  std::string source_;  // where repository_ has moved to
  const RepositoryCache& cache_;
  Fetcher fetcher_;
};

}  // namespace heed::hub
