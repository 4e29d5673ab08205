#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "heed/base/descriptor.h"
#include "heed/base/file.h"
#include "heed/load_options.h"
#include "heed/ops/packed_weight.h"

namespace heed::engine {

/// The file of a model's packed weights in LoadOptions::weight_cache. Processes that map it share
/// its memory. It holds the layout_bytes() of all weights, in the order in which they are packed,
/// each at a multiple of 64 bytes.
///
/// Every process packs the weights itself and compares them with the file. So a file is never
/// believed: one that is damaged, cut off, or of other weights is replaced.
class WeightCache {
 public:
  /// Maps the file for a model at `path` that is loaded with `options`, if there is one.
  WeightCache(const std::filesystem::path& path, const LoadOptions& options);

  /// Makes a packed weight read its bytes from the file if they are the next ones there. The weight
  /// must live until finish(). Does nothing if it was added before or is not packed. The first
  /// time, waits while another process makes the file, and creates the directory if there is none.
  /// Throws Error with the system's reason when that cannot be written.
  void add(PackedWeight& weight);
  /// Writes the file if a weight that was added is not there, and makes all read from it. Throws
  /// Error with the system's reason, such as a full disk.
  void finish();

 private:
  /// Maps the file. Returns false if there is none.
  bool map();
  /// Takes the lock of the process that makes the file; waits a moment if another one has it.
  bool try_lock();
  void await_file();
  void complete();
  /// Lets the weights that the mapped file holds read from it. Returns whether it holds all.
  bool read_all();
  bool read(PackedWeight& weight);
  void write() const;

  std::filesystem::path file_;
  std::shared_ptr<MappedFile> mapped_;
  std::optional<Descriptor> lock_;  // held by the process that makes the file
  std::vector<PackedWeight*> weights_;
  size_t end_ = 0;        // of the last weight in the file
  bool complete_ = true;  // all weights read from the file
};

}  // namespace heed::engine
