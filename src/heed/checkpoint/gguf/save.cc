#include "heed/checkpoint/gguf/save.h"

#include <algorithm>
#include <map>
#include <memory>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/checkpoint/gguf/model.h"
#include "heed/checkpoint/gguf/save_quantized.h"
#include "heed/checkpoint/gguf/weights.h"
#include "heed/checkpoint/stored_parts.h"
#include "heed/kernels/as_f32.h"
#include "heed/model/gguf/write.h"
#include "heed/quantize/precision.h"
#include "heed/quantize/quantization.h"

namespace heed::checkpoint {
namespace {

namespace fs = std::filesystem;
using io::GgufTensor;
using model::ModelConfig;

/// Tensors that llama.cpp has in f32 only, whatever their shape.
bool is_always_f32(std::string_view name) {
  return name.ends_with("_norm.weight") || !name.ends_with(".weight") ||
         name == "position_embd.weight" || name == "token_types.weight" ||
         name.find(".ffn_gate_inp.") != name.npos || name.find(".attn_sinks.") != name.npos;
}

/// The tensors of a file, and the parameters that each is made of.
class Tensors {
 public:
  Tensors(const model::Transformer& model, const ModelConfig& config, DType wanted)
      : config_(config), form_(model::gguf_family_for(config).gguf) {
    for (const io::NamedTensor& tensor : model::gguf_rotary_divisors(config)) {
      divisors_[tensor.name] = tensor.tensor;
      all_.push_back({tensor.name, tensor.tensor.shape(), DType::f32});
    }
    for (const Parameter& parameter : model.parameters().all()) {
      if (parameter.name.starts_with("model.pooler.")) continue;  // GGUF files have none
      const auto stored = form_.stored(config, parameter.name, parameter.shape);
      const auto parts = gguf_parts(stored.name, stored.shape, config);
      for (const GgufPart& part : parts) add(part, stored, parameter, wanted);
    }
  }

  const std::vector<GgufTensor>& all() const { return all_; }

  Tensor values(const GgufTensor& tensor) const {
    if (const auto found = divisors_.find(tensor.name); found != divisors_.end())
      return found->second;
    std::vector<StoredPart> parts;
    bool kept = true;
    for (const Parameter* parameter : parameters_.at(tensor.name)) {
      parts.push_back({form_.stored(config_, parameter->name, parameter->shape), parameter->value});
      // kv_b_proj is stored in two tensors, which are computed from it.
      kept = kept && parameter->value.dtype() == tensor.dtype &&
             parts.back().stored.name == tensor.name;
    }
    if (!kept)
      for (StoredPart& part : parts) part.value = kernels::as_f32(part.value);
    const Tensor whole = joined(parts).front().tensor;
    const GgufPart part{tensor.name, tensor.shape};
    return quantize::in_precision(gguf_part(part, whole, config_, form_.in_pairs), {tensor.dtype});
  }

 private:
  void add(const GgufPart& part, const model::StoredWeight& stored, const Parameter& parameter,
           DType wanted) {
    std::vector<const Parameter*>& parameters = parameters_[part.name];
    parameters.push_back(&parameter);
    const DType dtype = dtype_of(part, stored.shape, parameter, wanted);
    if (parameters.size() == 1) return all_.push_back({part.name, part.shape, dtype});
    // Of parameters that share a tensor, the one that needs the most bits decides.
    DType& own = std::ranges::find(all_, part.name, &GgufTensor::name)->dtype;
    if (traits_of(dtype).bits > traits_of(own).bits) own = dtype;
  }

  static DType dtype_of(const GgufPart& part, const Shape& stored, const Parameter& parameter,
                        DType wanted) {
    if (part.shape.rank() < 2 || parameter.shape.rank() < 2 || is_always_f32(part.name))
      return DType::f32;
    if (is_plain(wanted)) return wanted;
    if (wanted != DType::q8_0)
      return quantize::quantized_dtype(wanted, parameter, stored, DType::f32);
    return part.shape[-1] % block_elements(wanted) == 0 ? wanted : DType::f16;
  }

  const ModelConfig& config_;
  const model::GgufForm& form_;
  std::vector<GgufTensor> all_;
  std::map<std::string, Tensor> divisors_;
  std::map<std::string, std::vector<const Parameter*>> parameters_;  // by the tensor's name
};

/// Throws Error unless the model that is read back from the file has the same configuration. Ids of
/// tokens may come from the tokenizer.
void check_read_back(const io::GgufFile& file, const ModelConfig& config) {
  const GgufModel again = open_gguf_model(io::ModelFiles(fs::path(file.name())));
  ModelConfig read_back = again.config;
  read_back.pad_id = config.pad_id;
  read_back.bos_id = config.bos_id;
  read_back.eos_id = config.eos_id;
  read_back.other_eos_ids = config.other_eos_ids;
  read_back.decoder_start_id = config.decoder_start_id;
  // The file has the factor that this one computes.
  if (config.rotary_scaling.attention_factor == 0.0)
    read_back.rotary_scaling.attention_factor = 0.0;
  constexpr double kOfF32 = 1e-6;
  const std::string found = model::difference(config, read_back, kOfF32);
  require(found.empty(), "a GGUF file cannot hold this model: {}", found);
}

/// A file with holes in place of the weights, which takes no room on the disk; removed at the end.
class Frame {
 public:
  Frame(const fs::path& path, const io::GgufLayout& layout, const Tensors& tensors)
      : path_(path.string() + ".tmp.gguf") {
    try {
      io::write_gguf_frame(path_, layout,
                           [&](const GgufTensor& tensor) { return tensors.values(tensor); });
      file_ = io::GgufFile::open(path_);
    } catch (...) {
      remove();
      throw;
    }
  }
  ~Frame() { remove(); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  const io::GgufFile& file() const { return *file_; }

 private:
  void remove() const {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }

  fs::path path_;
  std::shared_ptr<const io::GgufFile> file_;
};

}  // namespace

std::vector<std::string> save_gguf(const fs::path& path, const model::Transformer& model,
                                   const GgufContents& contents) {
  std::vector<std::string> warnings;
  ModelConfig config = model.config();
  if (config.pooler) {
    config.pooler = false;
    warnings.push_back("the pooler of the first token is left out: GGUF files have none");
  }
  if (config.classifier.present() && config.classifier.sigmoid_score) {
    config.classifier.sigmoid_score = false;
    warnings.push_back("the score of a pair is its logit in the GGUF file, not the sigmoid of it");
  }
  const Tensors tensors(model, config, contents.dtype);
  io::GgufLayout layout{.metadata = {}, .tensors = tensors.all()};
  if (contents.original) {
    layout.metadata = gguf_metadata_of(*contents.original, contents.dtype);
    layout.alignment = contents.original->alignment();
  } else {
    io::GgufValues metadata = model::gguf_metadata(config);
    if (const int type = traits_of(contents.dtype).gguf_file_type; type >= 0)
      metadata["general.file_type"] = static_cast<uint32_t>(type);
    for (const auto& [key, value] : contents.metadata) metadata[key] = value;
    layout.metadata = io::gguf_metadata_bytes(metadata);
  }
  {
    const Frame frame(path, layout, tensors);
    check_read_back(frame.file(), config);
    if (contents.check) contents.check(frame.file());
  }
  io::write_gguf(path, layout, [&](const GgufTensor& tensor) { return tensors.values(tensor); });
  return warnings;
}

}  // namespace heed::checkpoint
