#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heed/io/pytorch/zip_archive.h"
#include "heed/io/safetensors.h"
#include "heed/io/stored_elements.h"

namespace heed::io {

/// A file of numpy.savez(): a zip archive of arrays in numpy's format
/// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html), versions 1 to 3, which
/// are stored as they are. The file is mapped.
class NpzFile : public TensorSource {
 public:
  /// Reads the headers of all arrays. Throws Error that names the file and the array: a damaged or
  /// compressed archive, a header that is not of the format, an order of Fortran, more than four
  /// axes, or other bytes than its shape has.
  static std::shared_ptr<const NpzFile> open(const std::filesystem::path& path);

  std::string name() const override { return path_; }
  std::vector<std::string> names() const override;
  bool contains(const std::string& name) const override { return arrays_.contains(name); }
  /// Arrays of float32, float16, float64, int32 and int64, as tensor_of() has them.
  Tensor get(const std::string& name) const override;
  /// The shape of an array. Throws Error when there is none.
  const Shape& shape(const std::string& name) const { return array(name).elements.shape; }
  /// The bytes of an array of 8-bit integers. Throws Error for others.
  std::string_view text(const std::string& name) const;

 private:
  struct Array {
    StoredElements elements;
    std::string dtype;  // numpy's name
    size_t bytes = 0;
  };

  explicit NpzFile(const std::filesystem::path& path);
  const Array& array(const std::string& name) const;
  Array read_array(const ZipArchive::Entry& entry, std::span<const std::byte> bytes) const;

  std::string path_;
  std::shared_ptr<MappedFile> file_;
  std::map<std::string, Array> arrays_;
};

}  // namespace heed::io
