#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "heed/base/descriptor.h"
#include "heed/hub/digest.h"
#include "heed/hub/listing.h"

namespace heed::hub {

/// A blob of the cache that is being downloaded: BLOB.incomplete, which finish() renames to BLOB.
/// What is there already is continued. The caller holds the blob's lock.
class BlobFile {
 public:
  /// Opens or creates the file; read_existing() must follow. Throws Error with the system's reason.
  BlobFile(std::filesystem::path blob, const ListedFile& expected);

  /// Reads what an earlier download left, to continue its checksum. `poll` is called between parts
  /// and may throw.
  void read_existing(const std::function<void()>& poll);
  /// Bytes that are there.
  uint64_t size() const { return size_; }
  uint64_t missing() const { return expected_.size - size_; }
  /// Whether a part of it is from an earlier download.
  bool was_continued() const { return continued_; }

  /// Begins anew.
  void clear();
  /// Throws Error when the file would become larger than expected and with the system's reason when
  /// it cannot be written (a full disk); what was written before stays.
  void append(std::string_view bytes);

  /// The empty text if all bytes are there and the checksum is right: the file is then
  /// synchronised with the disk and renamed. Otherwise what is wrong; the file is unchanged.
  std::string finish();

 private:
  std::filesystem::path blob_, path_;
  ListedFile expected_;
  Descriptor file_;
  Digest digest_;
  uint64_t size_ = 0;
  bool continued_ = false;
};

}  // namespace heed::hub
