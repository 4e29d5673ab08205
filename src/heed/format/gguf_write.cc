#include "heed/format/gguf_write.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/format/gguf_types.h"

namespace heed::format {
namespace {

constexpr uint32_t kMagic = 0x46554747, kVersion = 3;

template <typename T>
void append(std::string& bytes, T number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(T));
}

/// As GGML numbers files that hold mostly this type; none for the others.
std::optional<uint32_t> file_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 0;
    case DType::f16:
      return 1;
    case DType::q4_0:
      return 2;
    case DType::q4_1:
      return 3;
    case DType::q8_0:
      return 7;
    case DType::bf16:
      return 32;
    default:
      return std::nullopt;
  }
}

/// The metadata, with another type of file where it says one.
std::string metadata_of(const GgufFile& original, std::optional<DType> dtype) {
  const auto bytes = original.metadata_bytes();
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  // A key is its length and its letters; its value a type (u32) and, here, a number of that type.
  constexpr std::string_view kKey = "general.file_type";
  std::string key;
  append(key, static_cast<uint64_t>(kKey.size()));
  key += kKey;
  append(key, static_cast<uint32_t>(GgufType::u32));
  const auto type = dtype ? file_type(*dtype) : std::nullopt;
  if (const size_t place = text.find(key); type && place != std::string::npos)
    std::memcpy(text.data() + place + key.size(), &*type, sizeof(*type));
  return text;
}

/// Where the tensors lie, behind everything else of a file.
class Layout {
 public:
  explicit Layout(size_t alignment) : alignment_(alignment) {}

  /// The place of the next tensor in the data.
  size_t place(int64_t bytes) {
    const size_t begin = end_;
    end_ = aligned(begin + static_cast<size_t>(bytes));
    return begin;
  }
  size_t aligned(size_t bytes) const { return (bytes + alignment_ - 1) / alignment_ * alignment_; }

 private:
  size_t alignment_, end_ = 0;
};

/// Everything before the data: what a tensor is called, its axes (innermost first), type and place.
std::string header_of(const GgufFile& original, WeightPrecision precision, Layout layout) {
  std::string header;
  append(header, kMagic);
  append(header, kVersion);
  const std::vector<std::string> names = original.names();
  append(header, static_cast<uint64_t>(names.size()));
  header += metadata_of(original, precision.dtype);
  for (const std::string& name : names) {
    const Tensor tensor = original.get(name);
    const Shape& shape = tensor.shape();
    const DType dtype = dtype_in(shape, tensor.dtype(), precision);
    append(header, static_cast<uint64_t>(name.size()));
    header += name;
    append(header, static_cast<uint32_t>(shape.rank()));
    for (int axis = shape.rank() - 1; axis >= 0; --axis)
      append(header, static_cast<uint64_t>(shape[axis]));
    append(header, gguf_type_of(dtype).number);
    append(header, static_cast<uint64_t>(layout.place(bytes_of(dtype, shape.elements()))));
  }
  header.resize(layout.aligned(header.size()));
  return header;
}

}  // namespace

void write_quantized_gguf(const std::filesystem::path& path, const GgufFile& original,
                          WeightPrecision precision) {
  std::error_code none;
  require(!std::filesystem::equivalent(path, original.name(), none),
          "{} is the model itself: expected another file for the quantised one", path.string());
  Layout layout(original.alignment());
  AtomicFile file(path);
  file.write(header_of(original, precision, layout));
  for (const std::string& name : original.names()) {
    const Tensor tensor = in_precision(original.get(name), precision);
    const auto bytes = static_cast<size_t>(tensor.bytes());
    file.write({tensor.raw(), bytes});
    file.write(std::string(layout.aligned(bytes) - bytes, '\0'));
    original.release(name);
  }
  file.commit();
}

}  // namespace heed::format
