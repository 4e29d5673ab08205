#include "heed/checkpoint/gguf_weights.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/checkpoint/gguf_encoders.h"
#include "heed/kernels/as_f32.h"
#include "heed/model/families/config_json.h"

namespace heed::checkpoint {
namespace {

using model::ModelConfig;
using model::StoredWeight;

/// gpt-oss's norm before the feed-forward network is named after what it follows.
std::string gguf_name(const ModelConfig& config, const std::string& name) {
  const bool gpt_oss = config.family == "gpt_oss";
  return model::renamed(name,
                        {{"model.shared.", "token_embd."},
                         {"model.decoder.embed_positions.", "position_embd."},
                         {"model.decoder.layer_norm.", "output_norm."},
                         {"lm_head.", "output."},
                         {"model.decoder.layers.", "blk."},
                         {".self_attn_layer_norm.", ".attn_norm."},
                         {".self_attn_post_layer_norm.", ".post_attention_norm."},
                         {".final_layer_norm.", gpt_oss ? ".post_attention_norm." : ".ffn_norm."},
                         {".final_post_layer_norm.", ".post_ffw_norm."},
                         {".self_attn.", ".attn_"},
                         {".attn_sinks", ".attn_sinks.weight"},
                         {"kv_a_proj.", "kv_a_mqa."},
                         {"o_proj.", "output."},
                         {"_proj.", "."},
                         {".router.e_score_correction_bias", ".exp_probs_b.bias"},
                         {".router.", ".ffn_gate_inp."},
                         {".shared_experts.gate.", ".ffn_gate_shexp."},
                         {".shared_experts.up.", ".ffn_up_shexp."},
                         {".shared_experts.down.", ".ffn_down_shexp."},
                         {".gate.", ".ffn_gate."},
                         {".up.", ".ffn_up."},
                         {".down.", ".ffn_down."},
                         {".fc1.", ".ffn_up."},
                         {".fc2.", ".ffn_down."}});
}

/// The layers of T5's encoder and decoder have names of their own.
StoredWeight t5_weight(const std::string& name, const Shape& shape) {
  return {.name = model::renamed(
              name, {{"model.shared.", "token_embd."},
                     {"lm_head.", "output."},
                     {"model.encoder.layers.", "enc.blk."},
                     {"model.decoder.layers.", "dec.blk."},
                     {"model.encoder.layer_norm.", "enc.output_norm."},
                     {"model.decoder.layer_norm.", "dec.output_norm."},
                     {"model.encoder.relative_attention_bias.", "enc.blk.0.attn_rel_b."},
                     {"model.decoder.relative_attention_bias.", "dec.blk.0.attn_rel_b."},
                     {".self_attn_layer_norm.", ".attn_norm."},
                     {".encoder_attn_layer_norm.", ".cross_attn_norm."},
                     {".final_layer_norm.", ".ffn_norm."},
                     {".self_attn.", ".attn_"},
                     {".encoder_attn.", ".cross_attn_"},
                     {".gate_proj.", ".ffn_gate."},
                     {".up_proj.", ".ffn_up."},
                     {".down_proj.", ".ffn_down."},
                     {".fc1.", ".ffn_up."},
                     {".fc2.", ".ffn_down."},
                     {"_proj.", "."}}),
          .shape = shape,
          .otherwise = name == "lm_head.weight" ? "token_embd.weight" : ""};
}

/// blk.1.experts.7.ffn_up.weight is the eighth part of blk.1.ffn_up_exps.weight.
StoredWeight expert_weight(const ModelConfig& config, const std::string& name, const Shape& shape) {
  constexpr std::string_view kExperts = ".experts.";
  const size_t begin = name.find(kExperts), number = begin + kExperts.size();
  int64_t expert = 0;
  std::from_chars(name.data() + number, name.data() + name.size(), expert);
  Shape all{config.moe.n_experts, shape[0]};
  if (shape.rank() == 2) all = {config.moe.n_experts, shape[0], shape[1]};
  const size_t matrix = name.find('.', number), end = name.find('.', matrix + 1);
  return {.name = name.substr(0, begin) + name.substr(matrix, end - matrix) + "_exps" +
                  name.substr(end),
          .shape = all,
          .first_row = expert * shape[0]};
}

/// A parameter that is a part of the rows of a larger tensor.
struct FusedRows {
  std::string_view part, whole;
  int64_t first_row, rows;
};

/// GPT-2's and GPT-NeoX's fused projections, and Phi-3's.
std::vector<FusedRows> fused_rows(const ModelConfig& c) {
  if (c.family != "gpt2" && c.family != "gpt_neox" && c.family != "phi3") return {};
  const int64_t q = c.n_heads * c.head_dim, k = c.n_kv_heads * c.head_dim;
  const int64_t v = c.n_kv_heads * c.v_head_dim;
  std::vector<FusedRows> rows{{".attn_q.", ".attn_qkv.", 0, q + k + v},
                              {".attn_k.", ".attn_qkv.", q, q + k + v},
                              {".attn_v.", ".attn_qkv.", q + k, q + k + v}};
  if (c.gated) {
    rows.push_back({".ffn_gate.", ".ffn_up.", 0, 2 * c.d_ff});
    rows.push_back({".ffn_up.", ".ffn_up.", c.d_ff, 2 * c.d_ff});
  }
  return rows;
}

/// The families whose files have the rows of queries and keys in another order.
bool permutes_rows(const ModelConfig& config) {
  constexpr std::string_view kPermuted[] = {"llama", "mistral", "mixtral", "granite", "smollm3"};
  return std::ranges::find(kPermuted, config.family) != std::end(kPermuted);
}

/// The two tensors that store kv_b_proj in newer files.
std::string key_part(std::string name) {
  return model::renamed(std::move(name), {{".attn_kv_b.", ".attn_k_b."}});
}
std::string value_part(std::string name) {
  return model::renamed(std::move(name), {{".attn_kv_b.", ".attn_v_b."}});
}
class GgufWeights : public io::TensorSource {
 public:
  GgufWeights(std::shared_ptr<const io::GgufFile> file, const ModelConfig& config)
      : file_(std::move(file)), config_(config) {}

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
    const bool permuted = permutes_rows(config_);
    if (permuted && name.find(".attn_q.") != std::string::npos)
      return unpermuted(name, tensor, config_.n_heads);
    if (permuted && name.find(".attn_k.") != std::string::npos)
      return unpermuted(name, tensor, config_.n_kv_heads);
    if (config_.first_position > 0 && name == "position_embd.weight") return after_padding(tensor);
    if (config_.norm_unit_offset && name.ends_with("norm.weight")) return minus_one(tensor);
    return tensor.shape().rank() < 2 ? tensor.clone() : tensor;
  }

  /// Reorders the rows of every head from (pair 0 first, pair 0 second, pair 1 first, ...) to all
  /// first, then all second.
  Tensor unpermuted(const std::string& name, const Tensor& tensor, int64_t heads) const {
    const int64_t rows = tensor.shape().rank() ? tensor.shape()[0] : 0;
    require(rows > 0 && rows % (2 * heads) == 0,
            "{}: {} is {}, expected {} heads with an even number of rows", file_->name(), name,
            tensor.shape().text(), heads);
    const int64_t pairs = rows / heads / 2;
    const auto row_bytes = static_cast<size_t>(tensor.bytes() / rows);
    Tensor result = Tensor::empty(tensor.shape(), tensor.dtype());
    parallel_for(heads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t to = 2 * pairs * begin; to < 2 * pairs * end; ++to) {
        const int64_t head = to / (2 * pairs), half = to / pairs % 2, pair = to % pairs;
        const int64_t from = (head * pairs + pair) * 2 + half;
        std::memcpy(result.raw() + static_cast<size_t>(to) * row_bytes,
                    tensor.raw() + static_cast<size_t>(from) * row_bytes, row_bytes);
      }
    });
    return result;
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

  static Tensor minus_one(const Tensor& tensor) {
    Tensor result = kernels::as_f32(tensor).clone();
    for (int64_t i = 0; i < result.elements(); ++i) result.data<float>()[i] -= 1.0f;
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
  mutable std::vector<std::string> copied_;  // whose pages of the file are not released yet
};

}  // namespace

StoredWeight gguf_weight(const ModelConfig& config, const std::string& name, const Shape& shape) {
  if (config.family == "t5") return t5_weight(name, shape);
  const bool encoder = config.decoder_layers == 0;
  if (encoder && !model::family_of_type(config.family, "the configuration").decoder_only)
    return gguf_encoder_weight(config, name, shape);
  const std::string own =
      gguf_name(config, model::renamed(name, {{"model.encoder.", "model.decoder."}}));
  if (own.find(".experts.") != std::string::npos) return expert_weight(config, own, shape);
  for (const FusedRows& fused : fused_rows(config))
    if (own.find(fused.part) != std::string::npos)
      return {.name = model::renamed(own, {{fused.part, fused.whole}}),
              .shape = shape.rank() == 2 ? Shape{fused.rows, shape[1]} : Shape{fused.rows},
              .first_row = fused.first_row};
  return {.name = own, .shape = shape};
}

std::string gguf_whole(const std::string& stored) {
  return model::renamed(stored, {{".attn_k_b.", ".attn_kv_b."}, {".attn_v_b.", ".attn_kv_b."}});
}

bool gguf_redundant(std::string_view name) {
  return name == "rope_freqs.weight" || name == "rope_factors_long.weight" ||
         name == "rope_factors_short.weight" || name.ends_with(".cross_attn_rel_b.weight") ||
         name.ends_with(".attn_rot_embd.weight");
}

std::shared_ptr<const io::TensorSource> gguf_weights(std::shared_ptr<const io::GgufFile> file,
                                                     const ModelConfig& config) {
  return std::make_shared<GgufWeights>(std::move(file), config);
}

}  // namespace heed::checkpoint
