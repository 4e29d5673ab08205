#pragma once

#include <filesystem>
#include <functional>
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

/// A source of weights: a file, several files, or memory.
class TensorSource {
 public:
  virtual ~TensorSource() = default;
  /// Its name in messages.
  virtual std::string name() const = 0;
  /// In alphabetical order.
  virtual std::vector<std::string> names() const = 0;
  virtual bool contains(const std::string& name) const = 0;
  /// The tensor in its stored dtype, or in the nearest one that heed has. Throws Error when there
  /// is no such tensor.
  virtual Tensor get(const std::string& name) const = 0;
  /// The dtype of get(). Overridden where get() computes.
  virtual DType dtype(const std::string& name) const { return get(name).dtype(); }
  /// A tensor of 8-bit unsigned integers, as it lies in the file. Throws Error when there is no
  /// such tensor, or it holds something else.
  struct Bytes {
    Shape shape;
    std::span<const std::byte> bytes;  // valid as long as the source
  };
  virtual Bytes get_bytes(const std::string& name) const;
  /// Releases the memory of the tensor's part of a mapped file, after it has been copied. The
  /// tensor can still be read again, and views of it stay valid.
  virtual void release(const std::string& /*name*/) const {}
  /// The same for several tensors, and for everything that get() itself has copied. Adjacent
  /// tensors are released together.
  virtual void release_all(std::span<const std::string> names) const {
    for (const std::string& name : names) release(name);
  }
};

/// A safetensors file (https://huggingface.co/docs/safetensors): eight bytes with the length of a
/// JSON header, the header with dtype, shape and data_offsets of each tensor, then the data. The
/// file is mapped. The format has no quantised dtypes: heed writes a quantised tensor as its bytes
/// (U8, with the last axis in bytes), and its dtype into the metadata under the tensor's name.
class SafetensorsFile : public TensorSource {
 public:
  /// Reads and validates the whole header. Throws Error that names the file and the tensor: a
  /// header longer than the file or than 100 MiB, offsets that overlap, exceed the file, leave gaps
  /// or contradict the shape, more than four axes, an unknown dtype, a duplicate name.
  static std::shared_ptr<const SafetensorsFile> open(const std::filesystem::path& path);

  std::string name() const override { return path_.string(); }
  std::vector<std::string> names() const override;
  bool contains(const std::string& name) const override { return entries_.contains(name); }
  /// F32, BF16, F16, I32 and quantised tensors in their stored dtype: a copy of a vector or scalar,
  /// otherwise a view that keeps the file mapped. F64 is converted to f32 and I64 to i32. Throws
  /// Error for other dtypes and for an integer that does not fit.
  Tensor get(const std::string& name) const override;
  Bytes get_bytes(const std::string& name) const override;
  void release(const std::string& name) const override;
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  /// A tensor's entry in the header.
  struct Entry {
    std::string dtype;  // the format's name: "F32", "BF16", ...
    Shape shape;
    size_t begin = 0, end = 0;  // bytes [begin, end) of the file
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
  size_t data_begin_ = 0;  // first byte after the header
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

/// The weights of a model directory: the first that it has of model.safetensors, the shards that
/// model.safetensors.index.json lists, pytorch_model.bin (see PyTorchFile) and the shards of
/// pytorch_model.bin.index.json. Throws Error when there is none or a shard is missing.
std::shared_ptr<const TensorSource> open_model_tensors(const std::filesystem::path& directory);
/// Whether one of these files exists.
bool has_model_tensors(const std::filesystem::path& directory);

/// Writes tensors in the given order, atomically. The data begins at a multiple of 64 bytes; equal
/// arguments give equal bytes. Throws Error when a name is a duplicate or not UTF-8, and when the
/// file cannot be written (an old file then stays intact).
void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata);

/// A tensor that is made when it is written.
struct DescribedTensor {
  std::string name;
  Shape shape;
  DType dtype = DType::f32;
};
/// The same for tensors of which one at a time is in memory: `make(i)` returns that of tensors[i].
void write_safetensors(const std::filesystem::path& path,
                       const std::vector<DescribedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata,
                       const std::function<Tensor(size_t)>& make);

}  // namespace heed::io
