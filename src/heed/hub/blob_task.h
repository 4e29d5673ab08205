#pragma once

#include <functional>
#include <optional>
#include <string>

#include "heed/hub/blob_file.h"
#include "heed/hub/cache_layout.h"
#include "heed/hub/fetcher.h"
#include "heed/hub/listing.h"

namespace heed::hub {

/// A file of a commit that becomes a blob of the cache and appears in the snapshot. While it is
/// downloaded, the blob is locked against other processes, Python's included.
class BlobTask : public Task {
 public:
  struct Source {
    std::string repository, commit, file, url;
    ListedFile listed;
  };

  /// `poll` is called while existing bytes are read and may throw.
  BlobTask(Source source, const RepositoryCache& cache, std::function<void()> poll);

  std::string name() const override { return source_.file + " of " + source_.repository; }
  std::string url() const override { return source_.url; }
  Readiness prepare() override;
  /// All of them once the file is in the snapshot.
  uint64_t size() const override;
  void begin(const ResponseHead& head) override;
  void receive(std::string_view bytes) override { blob_->append(bytes); }
  std::string finish() override;

  uint64_t total() const { return source_.listed.size; }
  bool done() const { return done_; }

 private:
  /// Whether the cache holds the blob; an incomplete one, which a crash of the system may leave, is
  /// removed.
  bool has_blob() const;
  Readiness link_into_snapshot();

  const Source source_;
  const RepositoryCache& cache_;
  const std::function<void()> poll_;
  std::optional<Descriptor> lock_;
  std::optional<BlobFile> blob_;
  bool done_ = false;
};

}  // namespace heed::hub
