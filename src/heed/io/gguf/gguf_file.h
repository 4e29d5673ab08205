#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/base/file.h"
#include "heed/io/gguf/metadata.h"
#include "heed/io/safetensors.h"

namespace heed::io {

/// A little-endian GGUF file of version 2 or 3: metadata followed by tensors, which may be
/// quantised (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). The file is mapped. GGUF
/// lists the innermost axis first; shapes here list the outermost axis first, as everywhere in
/// heed. If the model is split over several files, this is the first with the tensors of all.
class GgufFile : public TensorSource {
 public:
  /// Reads and validates the whole header. Throws Error that names the file and the fault: counts
  /// or lengths that exceed the file, an alignment that is not a power of two of at least 8,
  /// tensors that overlap, exceed the file or have more than four axes, unknown types, duplicate
  /// names or keys; of a split model, files that are missing or do not belong together.
  static std::shared_ptr<const GgufFile> open(const std::filesystem::path& path);

  std::string name() const override { return path_.string(); }
  std::vector<std::string> names() const override;
  bool contains(const std::string& name) const override { return find_file(name) != nullptr; }
  /// A tensor of a type that has a DType, in that dtype: a copy of a vector or scalar, otherwise a
  /// view that keeps the file mapped. Throws Error that names the tensor and its type for any other
  /// type.
  Tensor get(const std::string& name) const override;
  /// The same, but always a view.
  Tensor view(const std::string& name) const;
  void release(const std::string& name) const override { release_all({&name, 1}); }
  void release_all(std::span<const std::string> names) const override;

  const GgufMetadata& metadata() const { return metadata_; }
  /// The raw bytes of the metadata: the number of keys, then all keys and values.
  std::span<const std::byte> metadata_bytes() const { return metadata_bytes_; }
  /// In bytes: the offset of every tensor in the data is a multiple of it.
  size_t alignment() const { return alignment_; }

  /// A tensor's entry in the header.
  struct Entry {
    std::string type;  // GGML's name: "F32", "Q4_K", ...
    Shape shape;
    size_t begin = 0, end = 0;  // bytes [begin, end) of the file
  };
  /// Throws Error when there is no such tensor.
  const Entry& entry(const std::string& name) const;

 private:
  GgufFile() = default;
  static std::shared_ptr<GgufFile> open_one(const std::filesystem::path& path);
  void open_others();
  /// The file that has a tensor; null if none does.
  const GgufFile* find_file(const std::string& tensor) const;
  /// The same; throws Error when none does.
  const GgufFile& file_of(const std::string& tensor) const;
  void release_own(std::span<const std::string> tensors) const;
  void read_header();
  Entry read_entry(GgufCursor& cursor, const std::string& tensor) const;
  void set_file_range(Entry& entry, const std::string& tensor, size_t data_begin) const;
  void check_overlaps() const;

  std::filesystem::path path_;
  std::shared_ptr<MappedFile> file_;
  GgufMetadata metadata_;
  std::span<const std::byte> metadata_bytes_;
  size_t alignment_ = 0;
  std::map<std::string, Entry> entries_;
  std::vector<std::shared_ptr<const GgufFile>> others_;  // of a split model
};

}  // namespace heed::io
