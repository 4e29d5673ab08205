#include "heed/train/config/embed_check.h"

#include <algorithm>
#include <initializer_list>

#include "heed/base/error.h"
#include "heed/train/config/data_check.h"

namespace heed::train {
namespace {

using data::VectorKind;
using data::VectorLoss;

// Upper limits, far beyond any real run.
constexpr int64_t kMaxNegatives = 1 << 10;
constexpr int64_t kMaxVectorDims = 1 << 16;

/// Throws Error when a setting was changed that only other losses have.
void for_losses(std::string_view key, bool changed, VectorLoss loss,
                std::initializer_list<VectorLoss> losses) {
  std::string names;
  for (const VectorLoss other : losses)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(other));
  require(!changed || std::ranges::find(losses, loss) != losses.end(),
          "{} is for embed.loss {}, and embed.loss is {}", key, names, name_of(loss));
}

/// Throws Error when a setting was changed that only vectors of another kind have.
void for_kind(std::string_view key, bool changed, VectorKind kind, VectorKind wanted) {
  require(!changed || kind == wanted,
          "{} is for {} vectors, those of the model are {} "
          "(embed.vectors)",
          key, name_of(wanted), name_of(kind));
}

void check_losses(const EmbedConfig& embed) {
  const EmbedConfig usual;
  const VectorLoss loss = embed.loss;
  using enum VectorLoss;
  for_losses("embed.scale", embed.scale != usual.scale, loss, {infonce, cosent});
  for_losses("embed.margin", embed.margin != usual.margin, loss, {triplet});
  for_losses("embed.distance", embed.distance != usual.distance, loss, {triplet});
  for_losses("embed.temperature", embed.temperature != usual.temperature, loss, {kl_divergence});
  for_losses("embed.teacher_temperature", embed.teacher_temperature != usual.teacher_temperature,
             loss, {kl_divergence});
  for_losses("embed.hard_negatives", embed.hard_negatives != 0, loss, {infonce});
  for (const auto& [key, prompt] : {std::pair{"embed.query_prompt", &embed.query_prompt},
                                    {"embed.document_prompt", &embed.document_prompt}})
    for_losses(key, !prompt->empty(), loss, {infonce, triplet, margin_mse, kl_divergence});
  for_losses("embed.matryoshka_dims", !embed.matryoshka_dims.empty(), loss,
             {infonce, triplet, cosine, cosent, margin_mse, kl_divergence});
}

}  // namespace

void check_embed(const TrainConfig& config) {
  const EmbedConfig& embed = config.embed;
  require(config.run.task == TaskKind::embed || embed == EmbedConfig(),
          "embed has settings of the task embed, the task is {}", name_of(config.run.task));
  check_number("embed.scale", embed.scale, 0);
  check_number("embed.margin", embed.margin, 0);
  check_count("embed.token_dims", embed.token_dims, 1, kMaxVectorDims);
  check_count("embed.query_expansion", embed.query_expansion, 0, config.window_tokens());
  check_number("embed.query_flops", embed.query_flops, 0);
  check_number("embed.document_flops", embed.document_flops, 0);
  check_number("embed.temperature", embed.temperature, 0);
  check_number("embed.teacher_temperature", embed.teacher_temperature, 0);
  require(embed.temperature > 0, "embed.temperature is 0, expected a number above it");
  for (const int64_t width : embed.matryoshka_dims)
    check_count("a number of embed.matryoshka_dims", width, 1, kMaxVectorDims);
  for (const double weight : embed.matryoshka_weights)
    check_number("a weight of embed.matryoshka_weights", weight, 0);
  require(embed.matryoshka_weights.empty() ||
              embed.matryoshka_weights.size() == embed.matryoshka_dims.size(),
          "embed.matryoshka_weights has {} numbers, embed.matryoshka_dims {}",
          embed.matryoshka_weights.size(), embed.matryoshka_dims.size());
  check_count("embed.hard_negatives", embed.hard_negatives, 0, kMaxNegatives);
  check_number("embed.hard_negative_ratio", embed.hard_negative_ratio, 0);
  require(embed.hard_negatives == 0 || !config.from.empty(),
          "embed.hard_negatives is {}, and model.from names no model that finds them",
          embed.hard_negatives);
  require(
      embed.hard_negatives > 0 || embed.hard_negative_ratio == EmbedConfig().hard_negative_ratio,
      "embed.hard_negative_ratio is {}, and embed.hard_negatives asks for none",
      embed.hard_negative_ratio);
  check_losses(embed);
}

void check_embed_kind(const EmbedConfig& embed, VectorKind kind) {
  const EmbedConfig usual;
  using enum VectorKind;
  for_kind("embed.pooling", embed.pooling != usual.pooling, kind, dense);
  for_kind("embed.matryoshka_dims", !embed.matryoshka_dims.empty(), kind, dense);
  for_kind("embed.hard_negatives", embed.hard_negatives != 0, kind, dense);
  for_kind("embed.query_flops", embed.query_flops != usual.query_flops, kind, sparse);
  for_kind("embed.document_flops", embed.document_flops != usual.document_flops, kind, sparse);
  for_kind("embed.token_dims", embed.token_dims != usual.token_dims, kind, multi_vector);
  for_kind("embed.query_expansion", embed.query_expansion != 0, kind, multi_vector);
  for_kind("embed.skip_punctuation", embed.skip_punctuation, kind, multi_vector);
  require(
      kind == dense || embed.loss == VectorLoss::infonce || embed.loss == VectorLoss::margin_mse ||
          embed.loss == VectorLoss::kl_divergence,
      "{} vectors are trained with the losses infonce, margin-mse and kl-divergence, embed.loss "
      "is {}",
      name_of(kind), name_of(embed.loss));
}

}  // namespace heed::train
