#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "heed/base/file.h"
#include "heed/tensor/tensor.h"

namespace heed::io {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// Where weights come from: a file, several of them, or memory.
class TensorSource {
 public:
  virtual ~TensorSource() = default;
  /// What messages call it.
  virtual std::string name() const = 0;
  /// In alphabetical order.
  virtual std::vector<std::string> names() const = 0;
  virtual bool contains(const std::string& name) const = 0;
  /// In the dtype in which it is stored, or in the nearest that heed has. Throws Error when there
  /// is no such tensor.
  virtual Tensor get(const std::string& name) const = 0;
  /// Says that the tensor has been copied and is not needed for now: the memory that holds a mapped
  /// file's part of it is given back. It can be had again, and views of it stay valid.
  virtual void release(const std::string& /*name*/) const {}
  /// The same of several, which may lie side by side, and of all that get() has copied itself.
  virtual void release_all(std::span<const std::string> names) const {
    for (const std::string& name : names) release(name);
  }
};

/// A safetensors file: eight bytes with the length of a JSON header, the header with dtype, shape
/// and data_offsets of each tensor, the data (https://huggingface.co/docs/safetensors). The file is
/// mapped. The format has no blocks: a tensor of blocks is written as its bytes, U8 [.., row
/// bytes], and the metadata holds the blocks' dtype under the tensor's name.
class SafetensorsFile : public TensorSource {
 public:
  /// Reads and checks the whole header. Throws Error naming file and tensor on anything hostile: a
  /// header longer than the file or than 100 MiB, offsets that overlap, leave the file, leave gaps
  /// or do not fit the shape, more than four axes, an unknown dtype, a name that occurs twice.
  static std::shared_ptr<const SafetensorsFile> open(const std::filesystem::path& path);

  std::string name() const override { return path_.string(); }
  std::vector<std::string> names() const override;
  bool contains(const std::string& name) const override { return entries_.contains(name); }
  /// F32, BF16, F16, I32 and blocks as they are: vectors copied, others as a view that keeps the
  /// file mapped. F64 becomes f32, I64 i32; throws Error when a number does not fit, or on others.
  Tensor get(const std::string& name) const override;
  void release(const std::string& name) const override;
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  /// What the header says of a tensor.
  struct Entry {
    std::string dtype;  // the format's name: "F32", "BF16", ...
    Shape shape;
    size_t begin = 0, end = 0;  // bytes of the file
  };
  /// Throws Error when there is no such tensor.
  const Entry& entry(const std::string& name) const;

 private:
  SafetensorsFile() = default;
  void read_header();
  Entry read_entry(const std::string& name, const nlohmann::json& json) const;
  void check_layout() const;
  Tensor get_blocks(const std::string& name, const Entry& stored, DType dtype) const;

  std::filesystem::path path_;
  std::shared_ptr<MappedFile> file_;
  size_t data_begin_ = 0;  // first byte behind the header
  std::map<std::string, Entry> entries_;
  std::map<std::string, std::string> metadata_;
};

/// Tensors in memory.
class TensorList : public TensorSource {
 public:
  TensorList(std::vector<NamedTensor> tensors, std::string name);
  std::string name() const override { return name_; }
  std::vector<std::string> names() const override;
  bool contains(const std::string& name) const override { return tensors_.contains(name); }
  Tensor get(const std::string& name) const override;

 private:
  std::string name_;
  std::map<std::string, Tensor> tensors_;
};

/// The weights of a model directory: model.safetensors, or the shards that
/// model.safetensors.index.json lists. Throws Error when neither is there or a shard is missing.
std::shared_ptr<const TensorSource> open_model_tensors(const std::filesystem::path& directory);

/// Writes tensors in the given order, atomically; the data begins at a multiple of 64 bytes, and
/// the same tensors give the same bytes. Throws Error when a name occurs twice or is not UTF-8, and
/// when the disk is full (an old file is then untouched).
void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace heed::io
