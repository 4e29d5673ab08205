#include "heed/checkpoint/weights.h"

#include <algorithm>
#include <set>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/quote.h"
#include "heed/checkpoint/fit_config.h"
#include "heed/checkpoint/stored_parts.h"
#include "heed/checkpoint/weight_shards.h"
#include "heed/kernels/as_f32.h"
#include "heed/quantize/quantization.h"

namespace heed::checkpoint {
namespace {

using model::StoredWeight;

/// A weight in the dtype of its parameter: quantised as `heed quantize` does if one is requested.
Tensor in_precision(const Parameter& parameter, const Tensor& weight,
                    quantize::WeightPrecision precision) {
  if (precision.dtype)
    precision.dtype =
        quantize::quantized_dtype(*precision.dtype, parameter, parameter.shape, weight.dtype());
  return quantize::in_precision(weight, precision);
}

/// Whether the value of a parameter is also read unpacked: embeddings are looked up by row, and
/// kv_b_proj is multiplied in parts (ops/heads_linear.h).
bool is_read_unpacked(WeightRole role) {
  return role == WeightRole::token_embedding || role == WeightRole::latent_key_value;
}

/// A model's parameters, the largest (embedding and head) first: a weight is in memory twice while
/// it is packed, so the peak is lowest if little else is loaded then.
std::vector<Parameter*> largest_first(model::Transformer& model) {
  std::vector<Parameter*> order;
  int64_t most = 0;
  for (Parameter& parameter : model.parameters().all()) {
    order.push_back(&parameter);
    most = std::max(most, parameter.shape.elements());
  }
  std::stable_partition(order.begin(), order.end(), [&](const Parameter* parameter) {
    return parameter->shape.elements() == most;
  });
  return order;
}

/// Collects parameters that have been read and packs several at once, so that threads seldom wait,
/// but not many, since they are in memory twice while they are packed.
class PackingQueue {
 public:
  PackingQueue(model::Transformer& model, const io::TensorSource& source,
               std::optional<Compute> pack, const OnPacked& on_packed)
      : model_(model), source_(source), pack_(pack), on_packed_(on_packed) {}

  /// `copied`: the parameter is not a view of the source's tensor `name`.
  void add(Parameter& parameter, const std::string& name, bool copied) {
    entries_.push_back({&parameter, name, copied});
    bytes_ += parameter.value.bytes();
    if (bytes_ >= kMaxBytes) flush();
  }

  /// Packs the added parameters and releases memory that is not needed any more.
  void flush() {
    std::vector<Parameter*> parameters;
    std::vector<std::string> unread;
    for (Entry& entry : entries_) {
      if (model_.device()) {
        model_.place(*entry.parameter);
        entry.copied = true;
      }
      if (pack_ && model_.packs(*entry.parameter, entry.parameter->value.dtype(), *pack_)) {
        parameters.push_back(entry.parameter);
        entry.copied = true;
      }
      if (entry.copied) unread.push_back(entry.name);
    }
    if (pack_) model_.pack(parameters, *pack_);
    for (Parameter* const parameter : parameters) {
      if (!is_read_unpacked(parameter->role))
        parameter->value = Tensor::view(parameter->shape, parameter->value.dtype(), nullptr);
      if (on_packed_) on_packed_(parameter->packed);
    }
    source_.release_all(unread);
    entries_.clear();
    bytes_ = 0;
  }

 private:
  struct Entry {
    Parameter* parameter;
    std::string name;  // in the source
    bool copied;
  };
  static constexpr int64_t kMaxBytes = int64_t{4} << 20;

  model::Transformer& model_;
  const io::TensorSource& source_;
  const std::optional<Compute> pack_;
  const OnPacked& on_packed_;
  std::vector<Entry> entries_;
  int64_t bytes_ = 0;
};

/// That of the whole parameter, also where a tensor-parallel model has a shard of it.
Shape shape_in_file(const Parameter& parameter, const model::Transformer& model) {
  const nn::TensorParallel* const parts = model.parts();
  return parts ? whole_shape(parameter, model.config(), *parts) : parameter.shape;
}

/// Files with sinusoids have rounded ones if they are in bf16 or f16; `transformers` reads them.
void read_sinusoids(model::Transformer& model, const model::Family& family,
                    const io::TensorSource& source) {
  using Kind = model::Stack::Kind;
  const model::ModelConfig& c = model.config();
  if (c.positions != model::PositionKind::sinusoidal || c.fairseq_sinusoids) return;
  for (const auto& [kind, stack] :
       {std::pair(Kind::encoder, "model.encoder"), std::pair(Kind::decoder, "model.decoder")}) {
    const std::string name =
        name_in(source, family, fmt::format("{}.embed_positions.weight", stack));
    if (!source.contains(name)) continue;
    const Tensor rows = source.get(name);
    if (rows.shape() == Shape{c.first_position + c.max_positions, c.d_model})
      model.set_sinusoids(kind, kernels::as_f32(rows));
  }
}

}  // namespace

void load_weights(model::Transformer& model, const model::Family& family,
                  const io::TensorSource& source, quantize::WeightPrecision precision,
                  std::optional<Compute> pack, const OnPacked& on_packed) {
  PackingQueue queue(model, source, pack, on_packed);
  std::set<std::string> used;
  for (Parameter* const next : largest_first(model)) {
    check_interrupted();
    Parameter& parameter = *next;
    if (parameter.role == WeightRole::dense_module) continue;
    const nn::TensorParallel* const parts = model.parts();
    const Shape shape = shape_in_file(parameter, model);
    const StoredWeight stored = family.stored(model.config(), parameter.name, shape);
    const std::string name = tensor_of(source, family, model.config(), parameter.name, shape);
    if (stored.zeros_if_missing && !source.contains(name)) {
      parameter.value = Tensor::zeros(parameter.shape);
      model.place(parameter);
      continue;
    }
    require(source.contains(name), "{}: {} is missing, expected with shape {}", source.name(),
            stored.name, stored.shape.text());
    const Tensor tensor = source.get(name);
    require(tensor.shape() == stored.shape, "{}: {} is {}, the configuration expects {} (for {})",
            source.name(), name, tensor.shape().text(), stored.shape.text(), parameter.name);
    require(tensor.dtype() != DType::i32, "{}: {} holds integers, expected numbers", source.name(),
            name);
    Tensor value = part_of(tensor, stored, shape);
    if (parts) value = shard_of(parameter, value, model.config(), *parts);
    parameter.value = in_precision(parameter, value, precision);
    const bool copied = parts && value.cols() != shape[-1];
    queue.add(parameter, name,
              copied || !is_view_of(stored) || parameter.value.dtype() != tensor.dtype());
    used.insert(name);
    if (!stored.preferred.empty()) used.insert(name_in(source, family, stored.name));
  }
  queue.flush();
  read_sinusoids(model, family, source);
  for (const std::string& name : source.names())
    require(used.contains(name) || may_be_left_out(source, family, model.config(), name),
            "{}: the tensor {} is not a part of the model that the configuration describes",
            source.name(), one_line(name));
}

DType stored_dtype(const Parameter& parameter, const model::Transformer& model,
                   const model::Family& family, const io::TensorSource& source) {
  const std::string name =
      tensor_of(source, family, model.config(), parameter.name, shape_in_file(parameter, model));
  return source.contains(name) ? source.dtype(name) : DType::f32;
}

void init_weights(model::Transformer& model, uint64_t seed, quantize::WeightPrecision precision) {
  for (Parameter& parameter : model.parameters().all()) {
    check_interrupted();
    Tensor value;
    if (const nn::TensorParallel* const parts = model.parts()) {
      Parameter whole = parameter;
      whole.shape = whole_shape(parameter, model.config(), *parts);
      value = shard_of(parameter, model.parameters().initial_value(whole, seed), model.config(),
                       *parts);
    } else {
      value = model.parameters().initial_value(parameter, seed);
    }
    parameter.value = in_precision(parameter, value, precision);
    model.place(parameter);
  }
}

std::vector<io::NamedTensor> stored_weights(const model::Transformer& model,
                                            const model::Family& family) {
  std::vector<StoredPart> parts;
  for (const Parameter& parameter : model.parameters().all()) {
    if (parameter.role == WeightRole::dense_module) continue;
    require(parameter.present(), "{} has no value to save", parameter.name);
    parts.push_back({family.stored(model.config(), parameter.name, parameter.shape),
                     kernels::as_f32(parameter.value)});
  }
  return joined(parts);
}

}  // namespace heed::checkpoint
