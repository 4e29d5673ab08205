#pragma once

#include <functional>
#include <memory>
#include <string>

#include "heed/base/file.h"
#include "heed/io/pytorch/pickle_objects.h"

namespace heed::io {

/// Bytes [begin, end) of a file.
struct StoragePlace {
  size_t begin = 0, end = 0;
};

/// What torch.save has written: a value with tensors of storages.
struct TorchContents {
  PickleObjects objects;
  PickleValue value;
  /// Where the storage of a key is. Throws Error, which names it, when there is none.
  std::function<StoragePlace(std::string_view key)> place_of;
};

/// Reads a zip archive, the format of torch 1.6 and later. Throws Error as ZipArchive and Pickle
/// do, and for numbers in the order of other processors (byteorder).
TorchContents read_zip_contents(const std::shared_ptr<MappedFile>& file, const std::string& path);

/// Whether a file begins as torch.save wrote it before version 1.6.
bool is_legacy_contents(std::span<const std::byte> file);

/// Reads the format of torch 0.4 to 1.5: pickles with a magic number, a version, the byte order of
/// the machine, the value, and the keys of its storages; then the storages, each after the number
/// of its elements. Throws Error as Pickle does.
TorchContents read_legacy_contents(const std::shared_ptr<MappedFile>& file,
                                   const std::string& path);

}  // namespace heed::io
