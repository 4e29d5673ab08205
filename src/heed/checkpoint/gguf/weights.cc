#include "heed/checkpoint/gguf/weights.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/as_f32.h"
#include "heed/model/stored_weight.h"

namespace heed::checkpoint {
namespace {

using model::ModelConfig;

/// The two tensors that store kv_b_proj in newer files.
std::string key_part(std::string name) {
  return model::renamed(std::move(name), {{".attn_kv_b.", ".attn_k_b."}});
}
std::string value_part(std::string name) {
  return model::renamed(std::move(name), {{".attn_kv_b.", ".attn_v_b."}});
}

/// The heads of a tensor whose rows that are rotated together lie next to each other; 0 for others.
/// Of an adapter, B has the rows of its weight.
int64_t paired_heads(const std::string& name, const ModelConfig& config, bool in_pairs) {
  if (!in_pairs || name.ends_with(".lora_a")) return 0;
  if (name.find(".attn_q.") != std::string::npos) return config.n_heads;
  return name.find(".attn_k.") != std::string::npos ? config.n_kv_heads : 0;
}

/// The rows of every head: (pair 0 first, pair 0 second, pair 1 first, ...) in the file, all first,
/// then all second in the model.
enum class RowOrder { model, file };

/// Reorders the rows of a tensor with an even number of rows a head.
Tensor with_rows(RowOrder order, const Tensor& tensor, int64_t heads) {
  const int64_t rows = tensor.shape()[0], pairs = rows / heads / 2;
  const auto row_bytes = static_cast<size_t>(tensor.bytes() / rows);
  Tensor result = Tensor::empty(tensor.shape(), tensor.dtype());
  parallel_for(heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t in_model = 2 * pairs * begin; in_model < 2 * pairs * end; ++in_model) {
      const int64_t head = in_model / (2 * pairs), half = in_model / pairs % 2;
      const int64_t in_file = (head * pairs + in_model % pairs) * 2 + half;
      const int64_t to = order == RowOrder::model ? in_model : in_file;
      const int64_t from = order == RowOrder::model ? in_file : in_model;
      std::memcpy(result.raw() + static_cast<size_t>(to) * row_bytes,
                  tensor.raw() + static_cast<size_t>(from) * row_bytes, row_bytes);
    }
  });
  return result;
}

bool has_unit_offset(const std::string& name, const ModelConfig& config) {
  return config.norm_unit_offset && name.ends_with("norm.weight");
}

/// x + number, f32.
Tensor plus(const Tensor& tensor, float number) {
  Tensor result = kernels::as_f32(tensor).clone();
  for (int64_t i = 0; i < result.elements(); ++i) result.data<float>()[i] += number;
  return result;
}

bool is_shifted(const std::string& name, const ModelConfig& config) {
  return config.first_position > 0 && name == "position_embd.weight";
}

class GgufWeights : public io::TensorSource {
 public:
  GgufWeights(std::shared_ptr<const io::GgufFile> file, const ModelConfig& config, bool in_pairs)
      : file_(std::move(file)), config_(config), in_pairs_(in_pairs) {}

  std::string name() const override { return file_->name(); }

  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const std::string& own : file_->names()) names.push_back(gguf_whole(own));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  bool contains(const std::string& name) const override {
    return file_->contains(name) || is_split(name);
  }

  Tensor get(const std::string& name) const override {
    if (is_split(name)) return joined(name);
    const Tensor stored = file_->view(name);
    const Tensor tensor = converted(name, stored);
    if (tensor.raw() != stored.raw()) copied_.push_back(name);
    return tensor;
  }

  DType dtype(const std::string& name) const override {
    return is_split(name) || has_unit_offset(name, config_) ? DType::f32
                                                            : file_->view(name).dtype();
  }

  void release(const std::string& name) const override { release_all({&name, 1}); }

  void release_all(std::span<const std::string> names) const override {
    std::vector<std::string> stored = std::exchange(copied_, {});
    for (const std::string& name : names)
      if (file_->contains(name)) stored.push_back(name);
    file_->release_all(stored);
  }

 private:
  bool is_split(const std::string& name) const {
    return name.find(".attn_kv_b.") != std::string::npos && !file_->contains(name) &&
           file_->contains(key_part(name)) && file_->contains(value_part(name));
  }

  /// Vectors are copied: a view would keep the large page around it in memory.
  Tensor converted(const std::string& name, const Tensor& tensor) const {
    if (const int64_t heads = paired_heads(name, config_, in_pairs_); heads > 0) {
      const int64_t rows = tensor.shape().rank() ? tensor.shape()[0] : 0;
      require(rows > 0 && rows % (2 * heads) == 0,
              "{}: {} is {}, expected {} heads with an even number of rows", file_->name(), name,
              tensor.shape().text(), heads);
      return with_rows(RowOrder::model, tensor, heads);
    }
    if (is_shifted(name, config_)) return after_padding(tensor);
    if (has_unit_offset(name, config_)) return plus(tensor, -1.0f);
    return tensor.shape().rank() < 2 ? tensor.clone() : tensor;
  }

  /// The table of positions with the first rows, which no token reads.
  Tensor after_padding(const Tensor& tensor) const {
    require(tensor.shape().rank() == 2, "{}: position_embd.weight is {}, expected a matrix",
            file_->name(), tensor.shape().text());
    Tensor result =
        Tensor::zeros({config_.first_position + tensor.rows(), tensor.cols()}, tensor.dtype());
    std::memcpy(result.raw() + config_.first_position * tensor.row_bytes(), tensor.raw(),
                static_cast<size_t>(tensor.bytes()));
    return result;
  }

  /// Joins keys [H, r, n] and values [H, v, r] to [H (n + v), r].
  Tensor joined(const std::string& name) const {
    const Tensor keys = kernels::as_f32(file_->get(key_part(name)));
    const Tensor values = kernels::as_f32(file_->get(value_part(name)));
    const bool fit = keys.shape().rank() == 3 && values.shape().rank() == 3 &&
                     keys.shape()[0] == values.shape()[0] && keys.shape()[1] == values.shape()[2];
    require(fit, "{}: {} is {}, which does not fit {} of {}", file_->name(), key_part(name),
            keys.shape().text(), value_part(name), values.shape().text());
    const int64_t heads = keys.shape()[0], rank = keys.shape()[1], n = keys.shape()[2];
    const int64_t v = values.shape()[1];
    Tensor result = Tensor::empty({heads * (n + v), rank});
    float* to = result.data<float>();
    for (int64_t head = 0; head < heads; ++head) {
      const float* key = keys.data<float>() + head * rank * n;
      for (int64_t row = 0; row < n; ++row)
        for (int64_t i = 0; i < rank; ++i) *to++ = key[i * n + row];
      to = std::copy_n(values.data<float>() + head * v * rank, v * rank, to);
    }
    return result;
  }

  std::shared_ptr<const io::GgufFile> file_;
  ModelConfig config_;
  bool in_pairs_;
  mutable std::vector<std::string> copied_;  // whose pages of the file are not released yet
};

/// Keys [H, r, n] of kv_b_proj [H (n + v), r], whose rows are keys and values head by head.
Tensor keys_of(const Tensor& whole, const Shape& shape) {
  const int64_t heads = shape[0], rank = shape[1], n = shape[2], rows = whole.rows() / heads;
  Tensor keys = Tensor::empty(shape);
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t row = 0; row < n; ++row)
      for (int64_t i = 0; i < rank; ++i)
        keys.data<float>()[(head * rank + i) * n + row] =
            whole.data<float>()[(head * rows + row) * rank + i];
  return keys;
}

/// Its values [H, v, r].
Tensor values_of(const Tensor& whole, const Shape& shape) {
  const int64_t heads = shape[0], part = shape[1] * shape[2], rows = whole.rows() / heads;
  Tensor values = Tensor::empty(shape);
  for (int64_t head = 0; head < heads; ++head)
    std::copy_n(whole.data<float>() + (head + 1) * rows * shape[2] - part, part,
                values.data<float>() + head * part);
  return values;
}

}  // namespace

std::string gguf_whole(const std::string& stored) {
  return model::renamed(stored, {{".attn_k_b.", ".attn_kv_b."}, {".attn_v_b.", ".attn_kv_b."}});
}

bool gguf_redundant(std::string_view name) {
  return name == "rope_freqs.weight" || name == "rope_factors_long.weight" ||
         name == "rope_factors_short.weight" || name.ends_with(".cross_attn_rel_b.weight") ||
         name.ends_with(".attn_rot_embd.weight");
}

std::shared_ptr<const io::TensorSource> gguf_weights(std::shared_ptr<const io::GgufFile> file,
                                                     const ModelConfig& config, bool in_pairs) {
  return std::make_shared<GgufWeights>(std::move(file), config, in_pairs);
}

std::vector<GgufPart> gguf_parts(const std::string& stored, const Shape& shape,
                                 const ModelConfig& config) {
  if (is_shifted(stored, config)) return {{stored, {shape[0] - config.first_position, shape[1]}}};
  if (stored.find(".attn_kv_b.") == std::string::npos) return {{stored, shape}};
  const int64_t rank = shape[1], heads = config.n_heads;
  const int64_t n = config.head_dim - config.latent.qk_rope_head_dim;
  return {{key_part(stored), {heads, rank, n}},
          {value_part(stored), {heads, config.v_head_dim, rank}}};
}

Tensor gguf_part(const GgufPart& part, const Tensor& whole, const ModelConfig& config,
                 bool in_pairs) {
  const auto& [name, shape] = part;
  if (const int64_t heads = paired_heads(name, config, in_pairs); heads > 0)
    return with_rows(RowOrder::file, whole, heads);
  if (is_shifted(name, config)) return whole.row_slice(config.first_position, whole.rows());
  if (has_unit_offset(name, config)) return plus(whole, 1.0f);
  if (name.find(".attn_k_b.") != std::string::npos) return keys_of(whole, shape);
  if (name.find(".attn_v_b.") != std::string::npos) return values_of(whole, shape);
  return whole;
}

}  // namespace heed::checkpoint
