#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/base/file.h"
#include "heed/io/gguf_metadata.h"
#include "heed/io/safetensors.h"

namespace heed::io {

/// A GGUF file of version 2 or 3, little-endian: metadata, then tensors, many of them in blocks
/// (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). The file is mapped. GGUF lists the
/// innermost axis first; shapes here are outermost first, as everywhere in heed.
class GgufFile : public TensorSource {
 public:
  /// Reads and checks the whole header. Throws Error naming the file and what is wrong in it on
  /// anything hostile: counts or lengths beyond the end of the file, an alignment that is no power
  /// of two of at least 8, tensors that overlap, lie outside the file or have more than four axes,
  /// unknown types, a name or a key that occurs twice.
  static std::shared_ptr<const GgufFile> open(const std::filesystem::path& path);

  std::string name() const override { return path_.string(); }
  std::vector<std::string> names() const override;
  bool contains(const std::string& name) const override { return entries_.contains(name); }
  /// F32, F16, BF16, I32, Q4_0, Q4_1, Q8_0 and Q6_K, as they are: vectors copied, others as a view
  /// that keeps the file mapped. Throws Error naming the tensor and its type on the other types.
  Tensor get(const std::string& name) const override;
  /// The same, but of vectors, too, a view.
  Tensor view(const std::string& name) const;
  void release(const std::string& name) const override { release_all({&name, 1}); }
  void release_all(std::span<const std::string> names) const override;

  const GgufMetadata& metadata() const { return metadata_; }
  /// The number of keys, and all keys and values, as they stand in the file.
  std::span<const std::byte> metadata_bytes() const { return metadata_bytes_; }
  /// Of what bytes of the data a tensor's place is a multiple.
  size_t alignment() const { return alignment_; }

  /// What the header says of a tensor.
  struct Entry {
    std::string type;  // GGML's name: "F32", "Q4_K", ...
    Shape shape;
    size_t begin = 0, end = 0;  // bytes of the file
  };
  /// Throws Error when there is no such tensor.
  const Entry& entry(const std::string& name) const;

 private:
  GgufFile() = default;
  void read_header();
  Entry read_entry(GgufCursor& cursor, const std::string& tensor) const;
  void place(Entry& entry, const std::string& tensor, size_t data_begin) const;
  void check_overlaps() const;

  std::filesystem::path path_;
  std::shared_ptr<MappedFile> file_;
  GgufMetadata metadata_;
  std::span<const std::byte> metadata_bytes_;
  size_t alignment_ = 0;
  std::map<std::string, Entry> entries_;
};

}  // namespace heed::io
