#include <nlohmann/json.hpp>
#include <ranges>
#include <unordered_set>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/io/safetensors.h"

namespace heed::io {
namespace {

constexpr size_t kAlignment = 64;

const char* file_dtype(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "F32";
    case DType::bf16:
      return "BF16";
    case DType::f16:
      return "F16";
    case DType::i32:
      return "I32";
    default:
      return "U8";  // bytes of quantised blocks
  }
}

std::string dumped(const nlohmann::ordered_json& header, const std::string& file) {
  try {
    return dump_json(header);
  } catch (const nlohmann::json::exception&) {
    fail("{}: a tensor name or a metadata value is not valid UTF-8", file);
  }
}

void check(const std::vector<DescribedTensor>& tensors, const std::string& file) {
  std::unordered_set<std::string> names{"__metadata__"};  // reserved by the format
  for (const auto& [name, shape, dtype] : tensors) {
    require(names.insert(name).second, "{}: the tensor name {} is a duplicate or reserved", file,
            one_line(name));
    require(is_plain(dtype) || shape.rank() > 0, "{}: {} is a scalar, which cannot be quantised",
            file, one_line(name));
  }
}

std::string header_of(const std::vector<DescribedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata, const std::string& file) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  for (const auto& [key, value] : metadata) header["__metadata__"][key] = value;
  for (const auto& [name, shape, dtype] : tensors)
    if (!is_plain(dtype)) header["__metadata__"][name] = name_of(dtype);
  int64_t offset = 0;
  for (const auto& [name, shape, dtype] : tensors) {
    std::vector<int64_t> sizes;
    for (int axis = 0; axis < shape.rank(); ++axis) sizes.push_back(shape[axis]);
    if (!is_plain(dtype)) sizes.back() = bytes_of(dtype, shape[-1]);
    const int64_t bytes = bytes_of(dtype, shape.elements());
    header[name] = {
        {"dtype", file_dtype(dtype)}, {"shape", sizes}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = dumped(header, file);
  // The format allows trailing spaces in the header; they align the data.
  while ((text.size() + sizeof(uint64_t)) % kAlignment) text += ' ';
  return text;
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<DescribedTensor> described;
  for (const auto& [name, tensor] : tensors) {
    require(tensor.defined(), "{}: tensor {} is undefined", path.string(), one_line(name));
    described.push_back({name, tensor.shape(), tensor.dtype()});
  }
  write_safetensors(path, described, metadata, [&](size_t i) { return tensors[i].tensor; });
}

void write_safetensors(const std::filesystem::path& path,
                       const std::vector<DescribedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata,
                       const std::function<Tensor(size_t)>& make) {
  check(tensors, path.string());
  const std::string header = header_of(tensors, metadata, path.string());
  const uint64_t length = header.size();
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor tensor = make(i);
    file.write({tensor.raw(), static_cast<size_t>(tensor.bytes())});
  }
  file.commit();
}

TensorList::TensorList(std::vector<NamedTensor> tensors, std::string name)
    : name_(std::move(name)) {
  for (NamedTensor& entry : tensors) tensors_[entry.name] = std::move(entry.tensor);
}

std::vector<std::string> TensorList::names() const {
  const auto keys = std::views::keys(tensors_);
  return {keys.begin(), keys.end()};
}

Tensor TensorList::get(const std::string& name) const {
  const auto found = tensors_.find(name);
  require(found != tensors_.end(), "{}: there is no tensor {}", name_, one_line(name));
  return found->second;
}

}  // namespace heed::io
