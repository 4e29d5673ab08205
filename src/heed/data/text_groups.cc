#include "heed/data/text_groups.h"

namespace heed::data {

std::string_view name_of(VectorLoss loss) {
  switch (loss) {
    case VectorLoss::infonce:
      return "infonce";
    case VectorLoss::cosine:
      return "cosine";
    case VectorLoss::cosent:
      return "cosent";
    case VectorLoss::triplet:
      return "triplet";
    case VectorLoss::margin_mse:
      return "margin-mse";
    case VectorLoss::kl_divergence:
      return "kl-divergence";
    case VectorLoss::distill:
      return "distill";
    case VectorLoss::none:
      break;
  }
  return "?";
}

std::string_view name_of(VectorKind kind) {
  switch (kind) {
    case VectorKind::dense:
      return "dense";
    case VectorKind::sparse:
      return "sparse";
    case VectorKind::multi_vector:
      return "multi-vector";
  }
  return "?";
}

std::string_view name_of(Distance distance) {
  return distance == Distance::cosine ? "cosine" : "euclidean";
}

void TextGroups::append(const TextGroups& other) {
  if (!present()) {
    *this = other;
    return;
  }
  const int32_t first = offsets.back();
  for (size_t i = 1; i < other.offsets.size(); ++i) offsets.push_back(first + other.offsets[i]);
  texts.insert(texts.end(), other.texts.begin(), other.texts.end());
  scores.insert(scores.end(), other.scores.begin(), other.scores.end());
  unpooled.insert(unpooled.end(), other.unpooled.begin(), other.unpooled.end());
  if (vector_offsets.empty()) return;
  const int32_t first_vector = vector_offsets.back();
  for (size_t i = 1; i < other.vector_offsets.size(); ++i)
    vector_offsets.push_back(first_vector + other.vector_offsets[i]);
  attended.clear();
  scored.clear();
}

}  // namespace heed::data
