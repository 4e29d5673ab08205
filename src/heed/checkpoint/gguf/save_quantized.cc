#include "heed/checkpoint/gguf/save_quantized.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/checkpoint/gguf/model.h"
#include "heed/checkpoint/gguf/weights.h"
#include "heed/checkpoint/weights.h"
#include "heed/io/gguf/write.h"

namespace heed::checkpoint {
namespace {

/// Changes the value of a key, if there is one with this type.
template <typename T>
void set_value(std::string& metadata, std::string_view name, io::GgufType type, T value) {
  // A key is its length and its bytes; its value is a type (u32) and, here, a number of that type.
  std::string key;
  const auto append = [&key](auto number) {
    key.append(reinterpret_cast<const char*>(&number), sizeof(number));
  };
  append(static_cast<uint64_t>(name.size()));
  key += name;
  append(static_cast<uint32_t>(type));
  if (const size_t place = metadata.find(key); place != std::string::npos)
    std::memcpy(metadata.data() + place + key.size(), &value, sizeof(value));
}

/// The rows of a tensor that belong to a parameter, such as one expert's, or GPT-2's q_proj.
struct Part {
  const Parameter* parameter;
  int64_t first_row, n_rows;
};

/// Quantises the tensors of a file.
class Converter {
 public:
  Converter(const io::ModelFiles& original, const quantize::Quantization& how)
      : original_(*original.gguf()), how_(how) {
    const GgufModel file = open_gguf_model(original);
    model_ = std::make_unique<model::Transformer>(file.config, std::nullopt);
    for (const Parameter& parameter : model_->parameters().all()) {
      const auto stored = file.family.stored(file.config, parameter.name, parameter.shape);
      parts_[stored.name].push_back({&parameter, stored.first_row, parameter.shape[0]});
    }
  }

  /// If parameters share a tensor, the one that needs the most bits decides (v_proj in GPT-2).
  DType dtype_of(const std::string& name) const {
    const Tensor tensor = original_.get(name);
    std::vector<DType> dtypes;
    for (const Part& part : parts_of(name)) {
      // The experts' biases are vectors, of which a tensor holds all.
      const bool vector = part.parameter->shape.rank() == 1;
      dtypes.push_back(quantize::quantized_dtype(how_.dtype, *part.parameter,
                                                 vector ? part.parameter->shape : tensor.shape(),
                                                 tensor.dtype()));
    }
    return *std::ranges::max_element(dtypes, {}, [](DType dtype) { return traits_of(dtype).bits; });
  }

  /// The rows of each parameter are rounded with its own calibration.
  Tensor converted(const std::string& name) const {
    const Tensor tensor = original_.get(name);
    const DType dtype = dtype_of(name);
    if (parts_of(name).front().parameter->shape.rank() == 1 || tensor.shape().rank() < 2 ||
        tensor.dtype() == dtype)
      return quantize::in_precision(tensor, {dtype});
    Tensor result = Tensor::empty(tensor.shape(), dtype);
    for (const Part& part : parts_of(name)) {
      const int64_t begin = part.first_row, end = begin + part.n_rows;
      Tensor rows = result.row_slice(begin, end);
      const Tensor values =
          quantize::quantized(how_, part.parameter->name, tensor.row_slice(begin, end), dtype);
      std::memcpy(rows.raw(), values.raw(), static_cast<size_t>(values.bytes()));
    }
    return result;
  }

 private:
  std::vector<Part> parts_of(const std::string& name) const {
    if (const auto found = parts_.find(name); found != parts_.end()) return found->second;
    const auto whole = parts_.find(gguf_whole(name));
    const Parameter* const parameter =
        whole == parts_.end() ? &unknown_ : whole->second.front().parameter;
    return {{parameter, 0, original_.get(name).rows()}};
  }

  const io::GgufFile& original_;
  const quantize::Quantization& how_;
  std::unique_ptr<const model::Transformer> model_;
  std::map<std::string, std::vector<Part>> parts_;  // by the tensor's name
  const Parameter unknown_{};                       // for tensors without a parameter
};

}  // namespace

std::string gguf_metadata_of(const io::GgufFile& original, DType dtype) {
  const auto bytes = original.metadata_bytes();
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const int type = traits_of(dtype).gguf_file_type; type >= 0)
    set_value(text, "general.file_type", io::GgufType::u32, static_cast<uint32_t>(type));
  set_value(text, "split.count", io::GgufType::u16, uint16_t{1});
  return text;
}

void write_quantized_gguf(const std::filesystem::path& path, const std::filesystem::path& original,
                          const quantize::Quantization& how) {
  std::error_code none;
  require(!std::filesystem::equivalent(path, original, none),
          "{} is the original model, expected another file for the quantised one", path.string());
  const io::ModelFiles files(original);
  const Converter converter(files, how);
  const auto source = files.gguf();
  io::GgufLayout layout{.metadata = gguf_metadata_of(*source, how.dtype),
                        .tensors = {},
                        .alignment = source->alignment()};
  for (const std::string& name : source->names())
    layout.tensors.push_back({name, source->get(name).shape(), converter.dtype_of(name)});
  io::write_gguf(path, layout, [&](const io::GgufTensor& tensor) {
    const Tensor values = converter.converted(tensor.name);
    source->release(tensor.name);
    return values;
  });
}

}  // namespace heed::checkpoint
