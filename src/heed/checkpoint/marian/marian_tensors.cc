#include "heed/checkpoint/marian/marian_tensors.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/quote.h"

namespace heed::checkpoint {
namespace {

/// How an array becomes a tensor.
enum class ArrayChange {
  vector,      // [1, N] to [N]
  transposed,  // [in, out] to [out, in]
  rows,        // [V, D] with a row of zeros behind
  columns,     // [D, V] to [V, D], with one
  logits_bias  // [1, V] with an element that is never the largest
};

struct ArrayPart {
  std::string array;
  ArrayChange change;
};
using ArrayParts = std::map<std::string, ArrayPart>;  // by transformers' names

/// So low that the token does not occur, and finite in 16 bits.
constexpr float kNever = -1e4f;

/// Attention, or the block of a layer that `array` begins with.
void add_attention(ArrayParts& parts, const std::string& name, const std::string& array) {
  for (const auto& [projection, letter] :
       {std::pair{"q_proj", 'q'}, {"k_proj", 'k'}, {"v_proj", 'v'}, {"out_proj", 'o'}}) {
    parts[name + projection + ".weight"] = {fmt::format("{}_W{}", array, letter),
                                            ArrayChange::transposed};
    parts[name + projection + ".bias"] = {fmt::format("{}_b{}", array, letter),
                                          ArrayChange::vector};
  }
}

void add_norm(ArrayParts& parts, const std::string& name, const std::string& array,
              const std::string& ending) {
  parts[name + ".weight"] = {array + "_ln_scale" + ending, ArrayChange::vector};
  parts[name + ".bias"] = {array + "_ln_bias" + ending, ArrayChange::vector};
}

void add_stack(ArrayParts& parts, const char* side, int64_t layers, bool pre_norm) {
  const std::string stack = fmt::format("model.{}", side);
  const std::string ending = pre_norm ? "_pre" : "";
  for (int64_t i = 0; i < layers; ++i) {
    const std::string layer = fmt::format("{}.layers.{}.", stack, i);
    const std::string arrays = fmt::format("{}_l{}_", side, i + 1);
    add_attention(parts, layer + "self_attn.", arrays + "self");
    add_norm(parts, layer + "self_attn_layer_norm", arrays + "self_Wo", ending);
    if (std::string_view(side) == "decoder") {
      add_attention(parts, layer + "encoder_attn.", arrays + "context");
      add_norm(parts, layer + "encoder_attn_layer_norm", arrays + "context_Wo", ending);
    }
    for (const char number : {'1', '2'}) {
      parts[fmt::format("{}fc{}.weight", layer, number)] = {
          fmt::format("{}ffn_W{}", arrays, number), ArrayChange::transposed};
      parts[fmt::format("{}fc{}.bias", layer, number)] = {fmt::format("{}ffn_b{}", arrays, number),
                                                          ArrayChange::vector};
    }
    add_norm(parts, layer + "final_layer_norm", arrays + "ffn_ffn", ending);
  }
  if (pre_norm) add_norm(parts, stack + ".layer_norm", fmt::format("{}_top", side), "");
}

ArrayParts parts_of(const MarianSettings& settings, const io::NpzFile& weights) {
  ArrayParts parts;
  add_stack(parts, "encoder", settings.encoder_layers, settings.pre_norm);
  add_stack(parts, "decoder", settings.decoder_layers, settings.pre_norm);
  if (settings.shared_embeddings) {
    const bool plain = weights.contains("Wemb");
    parts["model.shared.weight"] = {plain ? "Wemb" : "encoder_Wemb", ArrayChange::rows};
  } else {
    parts["model.encoder.embed_tokens.weight"] = {"encoder_Wemb", ArrayChange::rows};
    parts["model.decoder.embed_tokens.weight"] = {"decoder_Wemb", ArrayChange::rows};
  }
  if (!settings.tied_head) {
    const bool rows = weights.contains("decoder_ff_logit_out_Wt");
    parts["lm_head.weight"] = {rows ? "decoder_ff_logit_out_Wt" : "decoder_ff_logit_out_W",
                               rows ? ArrayChange::rows : ArrayChange::columns};
  }
  parts["final_logits_bias"] = {"decoder_ff_logit_out_b", ArrayChange::logits_bias};
  return parts;
}

/// A row-major matrix with its axes exchanged.
Tensor transposed(const Tensor& from, int64_t more_rows = 0) {
  Tensor to = Tensor::zeros({from.cols() + more_rows, from.rows()});
  for (int64_t row = 0; row < from.rows(); ++row)
    for (int64_t col = 0; col < from.cols(); ++col)
      to.data<float>()[col * from.rows() + row] = from.data<float>()[row * from.cols() + col];
  return to;
}

Tensor with_row(const Tensor& from) {
  Tensor to = Tensor::zeros({from.rows() + 1, from.cols()});
  std::copy_n(from.data<float>(), from.elements(), to.data<float>());
  return to;
}

class MarianTensors : public io::TensorSource {
 public:
  MarianTensors(std::shared_ptr<const io::NpzFile> weights, const MarianSettings& settings)
      : weights_(std::move(weights)), parts_(parts_of(settings, *weights_)) {
    std::set<std::string> used;
    for (const auto& [name, part] : parts_) {
      require(weights_->contains(part.array), "{}: there is no array {}, which would be {}",
              weights_->name(), part.array, name);
      used.insert(part.array);
    }
    for (const std::string& array : weights_->names())
      require(used.contains(array) || array.starts_with("special:"),
              "{}: the array {} is none of a Transformer's with these settings", weights_->name(),
              one_line(array));
  }

  std::string name() const override { return weights_->name(); }
  std::vector<std::string> names() const override {
    const auto keys = std::views::keys(parts_);
    return {keys.begin(), keys.end()};
  }
  bool contains(const std::string& name) const override { return parts_.contains(name); }
  DType dtype(const std::string& /*name*/) const override { return DType::f32; }

  Tensor get(const std::string& name) const override {
    const auto found = parts_.find(name);
    require(found != parts_.end(), "{}: there is no tensor {}", weights_->name(), one_line(name));
    const auto& [array, change] = found->second;
    const Tensor from = weights_->get(array);
    require(from.dtype() == DType::f32 && from.shape().rank() == 2,
            "{}: {} is no matrix of float32", weights_->name(), one_line(array));
    switch (change) {
      case ArrayChange::vector:
        return from.reshaped({from.elements()});
      case ArrayChange::transposed:
        return transposed(from);
      case ArrayChange::rows:
        return with_row(from);
      case ArrayChange::columns:
        return transposed(from, 1);
      case ArrayChange::logits_bias:
        break;
    }
    Tensor bias = Tensor::zeros({1, from.elements() + 1});
    std::copy_n(from.data<float>(), from.elements(), bias.data<float>());
    bias.data<float>()[from.elements()] = kNever;
    return bias;
  }

 private:
  std::shared_ptr<const io::NpzFile> weights_;
  ArrayParts parts_;
};

}  // namespace

std::shared_ptr<const io::TensorSource> marian_tensors(std::shared_ptr<const io::NpzFile> weights,
                                                       const MarianSettings& settings) {
  return std::make_shared<MarianTensors>(std::move(weights), settings);
}

}  // namespace heed::checkpoint
