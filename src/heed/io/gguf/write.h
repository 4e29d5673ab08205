#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed::io {

/// A value of the metadata. Integers are u32 or, in a list, i32; real numbers are f32.
using GgufValue = std::variant<uint32_t, float, bool, std::string, std::vector<std::string>,
                               std::vector<int32_t>, std::vector<float>, std::vector<uint8_t>>;

/// Metadata to be written, by their keys.
using GgufValues = std::map<std::string, GgufValue>;

/// The metadata as files have them: the number of keys, then all keys and values.
std::string gguf_metadata_bytes(const GgufValues& values);

/// A tensor to be written.
struct GgufTensor {
  std::string name;
  Shape shape;
  DType dtype;
};

/// How a file is written.
struct GgufLayout {
  std::string metadata;             // as gguf_metadata_bytes() returns them
  std::vector<GgufTensor> tensors;  // in their order in the file
  size_t alignment = 32;            // "general.alignment", a power of two
};

/// Writes a file of version 3, which replaces one at `path` when it is complete. `data` returns the
/// tensors one after the other, each of the shape and dtype that the layout says. Throws Error when
/// the file cannot be written; an existing one then stays intact.
void write_gguf(const std::filesystem::path& path, const GgufLayout& layout,
                const std::function<Tensor(const GgufTensor&)>& data);

/// Writes a file that can be opened before the weights are: it has the values of its vectors alone,
/// and holes in place of matrices. Throws Error when it cannot be written.
void write_gguf_frame(const std::filesystem::path& path, const GgufLayout& layout,
                      const std::function<Tensor(const GgufTensor&)>& data);

}  // namespace heed::io
