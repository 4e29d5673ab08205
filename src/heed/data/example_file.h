#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "heed/base/descriptor.h"
#include "heed/data/batch.h"
#include "heed/data/batch_plan.h"

namespace heed::data {

/// Tokenised sentence pairs on disk, so that their number is not limited by memory. The files have
/// no names and vanish with this. Any number of threads may read.
class ExampleFile {
 public:
  /// Throws Error, with the system's reason, when no file can be made in `directory`.
  explicit ExampleFile(const std::filesystem::path& directory);

  /// Throws Error when it cannot be written: a full disk.
  void add(const Example& example);
  /// Writes what is still in memory; must be called between the last add() and reading.
  void flush();

  int64_t count() const { return count_; }
  /// Both throw Error when `index` is out of range, and when the files cannot be read.
  Lengths lengths_at(int64_t index) const;
  Example at(int64_t index) const;

 private:
  /// Where an example is: `begin` counts tokens. It has its start token, the source, the target and
  /// the links, each of which is two numbers.
  struct Entry {
    int64_t begin;
    Lengths lengths;
    int64_t links;
  };

  /// A file that is written at its end.
  struct File {
    Descriptor descriptor;
    std::vector<std::byte> pending;
  };
  File open() const;
  void append(File& file, std::span<const std::byte> bytes) const;
  void write(File& file) const;
  void read(const File& file, int64_t offset, std::span<std::byte> bytes) const;
  Entry entry(int64_t index) const;

  std::filesystem::path directory_;
  File tokens_, entries_;
  int64_t count_ = 0, token_count_ = 0;
};

}  // namespace heed::data
