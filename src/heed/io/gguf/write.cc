#include "heed/io/gguf/write.h"

#include <fstream>
#include <type_traits>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/rounding.h"
#include "heed/io/gguf/metadata.h"
#include "heed/io/gguf/types.h"

namespace heed::io {
namespace {

constexpr uint32_t kVersion = 3;

template <typename T>
void append(std::string& bytes, T number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(T));
}

/// A string: its length, then its bytes.
void append_text(std::string& bytes, std::string_view text) {
  append(bytes, static_cast<uint64_t>(text.size()));
  bytes += text;
}

template <typename T>
constexpr GgufType type_of() {
  if constexpr (std::is_same_v<T, uint8_t>) return GgufType::u8;
  if constexpr (std::is_same_v<T, uint32_t>) return GgufType::u32;
  if constexpr (std::is_same_v<T, int32_t>) return GgufType::i32;
  if constexpr (std::is_same_v<T, float>) return GgufType::f32;
  if constexpr (std::is_same_v<T, bool>) return GgufType::boolean;
  return GgufType::string;
}

/// A type and a value, or for a list the type of its elements, their number and the elements.
struct AppendValue {
  std::string& bytes;

  template <typename T>
  void element(const T& value) const {
    if constexpr (std::is_same_v<T, std::string>)
      append_text(bytes, value);
    else
      append(bytes, value);
  }
  template <typename T>
  void operator()(const T& value) const {
    append(bytes, static_cast<uint32_t>(type_of<T>()));
    element(value);
  }
  template <typename T>
  void operator()(const std::vector<T>& values) const {
    append(bytes, static_cast<uint32_t>(GgufType::array));
    append(bytes, static_cast<uint32_t>(type_of<T>()));
    append(bytes, static_cast<uint64_t>(values.size()));
    for (const T& value : values) element(value);
  }
};

/// Everything before the data. Each tensor has a name, axes (innermost first), a type and an offset
/// in the data.
std::string header_of(const GgufLayout& layout) {
  std::string header;
  append(header, kGgufMagic);
  append(header, kVersion);
  append(header, static_cast<uint64_t>(layout.tensors.size()));
  header += layout.metadata;
  size_t offset = 0;
  for (const auto& [name, shape, dtype] : layout.tensors) {
    append_text(header, name);
    append(header, static_cast<uint32_t>(shape.rank()));
    for (int axis = shape.rank() - 1; axis >= 0; --axis)
      append(header, static_cast<uint64_t>(shape[axis]));
    append(header, gguf_type_of(dtype).number);
    append(header, static_cast<uint64_t>(offset));
    offset =
        round_up(offset + static_cast<size_t>(bytes_of(dtype, shape.elements())), layout.alignment);
  }
  header.resize(round_up(header.size(), layout.alignment));
  return header;
}

}  // namespace

std::string gguf_metadata_bytes(const GgufValues& values) {
  std::string bytes;
  append(bytes, static_cast<uint64_t>(values.size()));
  for (const auto& [key, value] : values) {
    append_text(bytes, key);
    std::visit(AppendValue{bytes}, value);
  }
  return bytes;
}

void write_gguf(const std::filesystem::path& path, const GgufLayout& layout,
                const std::function<Tensor(const GgufTensor&)>& data) {
  AtomicFile file(path);
  file.write(header_of(layout));
  for (const GgufTensor& tensor : layout.tensors) {
    const Tensor values = data(tensor);
    require(values.shape() == tensor.shape && values.dtype() == tensor.dtype,
            "{}: {} is {} {}, expected {} {}", path.string(), tensor.name, name_of(values.dtype()),
            values.shape().text(), name_of(tensor.dtype), tensor.shape.text());
    const auto bytes = static_cast<size_t>(values.bytes());
    file.write({values.raw(), bytes});
    file.write(std::string(round_up(bytes, layout.alignment) - bytes, '\0'));
  }
  file.commit();
}

void write_gguf_frame(const std::filesystem::path& path, const GgufLayout& layout,
                      const std::function<Tensor(const GgufTensor&)>& data) {
  const std::string header = header_of(layout);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << header;
  size_t place = header.size();
  for (const GgufTensor& tensor : layout.tensors) {
    const auto bytes = static_cast<size_t>(bytes_of(tensor.dtype, tensor.shape.elements()));
    if (tensor.shape.rank() < 2) {
      const Tensor values = data(tensor);
      file.seekp(static_cast<std::streamoff>(place));
      file.write(reinterpret_cast<const char*>(values.raw()), static_cast<std::streamsize>(bytes));
    }
    place += round_up(bytes, layout.alignment);
  }
  file.close();
  require(file.good(), "{}: cannot be written", path.string());
  std::error_code error;
  std::filesystem::resize_file(path, place, error);
  require(!error, "{}: cannot be written: {}", path.string(), error.message());
}

}  // namespace heed::io
