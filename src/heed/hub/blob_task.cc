#include "heed/hub/blob_task.h"

#include <filesystem>

#include "heed/base/file.h"
#include "heed/base/file_lock.h"

namespace heed::hub {

namespace fs = std::filesystem;

BlobTask::BlobTask(Source source, const RepositoryCache& cache, std::function<void()> poll)
    : source_(std::move(source)), cache_(cache), poll_(std::move(poll)) {}

uint64_t BlobTask::size() const {
  if (done_) return source_.listed.size;
  return blob_ ? blob_->size() : 0;
}

bool BlobTask::has_blob() const {
  const fs::path blob = cache_.blob(source_.listed.checksum);
  std::error_code error;
  const uint64_t size = fs::file_size(blob, error);
  if (error) return false;
  if (size != source_.listed.size) remove_tree(blob);
  return size == source_.listed.size;
}

Task::Readiness BlobTask::link_into_snapshot() {
  cache_.link(source_.commit, source_.file, source_.listed.checksum);
  blob_.reset();
  lock_.reset();
  done_ = true;
  return Readiness::done;
}

Task::Readiness BlobTask::prepare() {
  if (blob_) return Readiness::ready;
  const std::string& checksum = source_.listed.checksum;
  make_directory(cache_.lock(checksum).parent_path());
  make_directory(cache_.blob(checksum).parent_path());
  lock_ = try_lock_file(cache_.lock(checksum));
  if (!lock_) return Readiness::waiting;
  if (has_blob()) return link_into_snapshot();
  blob_.emplace(cache_.blob(checksum), source_.listed);
  blob_->read_existing(poll_);
  if (blob_->missing() > 0) return Readiness::ready;
  return finish().empty() ? Readiness::done : Readiness::ready;
}

void BlobTask::begin(const ResponseHead& head) {
  const uint64_t asked = blob_->size();
  if (head.status == 200 && asked > 0) blob_->clear();  // the server ignores ranges
  if (head.status == 206)
    require(head.range_begin == asked, "{}: the server sends the bytes from {} on, expected {}",
            name(), head.range_begin.value_or(0), asked);
  if (head.length)
    require(*head.length == blob_->missing(), "{}: the server announces {} bytes, expected {}",
            name(), *head.length, blob_->missing());
}

std::string BlobTask::finish() {
  std::string problem = blob_->finish();
  if (problem.empty()) {
    link_into_snapshot();
    return {};
  }
  if (blob_->missing() > 0) return problem;
  // Without an earlier part, whose bytes may have been wrong, the server's are.
  const bool continued = blob_->was_continued();
  blob_->clear();
  require(continued, "{}: {}", name(), problem);
  return problem;
}

}  // namespace heed::hub
