#include "heed/inspect/attention_capture.h"

#include <cmath>
#include <set>
#include <utility>

#include "heed/base/error.h"

namespace heed::inspect {
namespace {

constexpr int kHeads = 0, kQueries = 1, kKeys = 2;  // axes of AttentionMap::weights

void check(const AttentionCapture& capture, const AttentionMap& map) {
  const Shape& shape = map.weights.shape();
  const std::string where = fmt::format("{} attention of layer {}", name_of(map.kind), map.layer);
  require(map.layer >= 0, "{}: the layer is negative, expected at least 0", where);
  require(shape.rank() == 3, "{} is {}, expected [heads, queries, keys]", where, shape.text());
  require(map.weights.dtype() == DType::f32, "{} is {}, expected f32", where,
          name_of(map.weights.dtype()));
  require(shape[kHeads] > 0, "{} has no heads", where);
  const auto queries = static_cast<int64_t>(query_tokens(capture, map.kind).size());
  const auto keys = static_cast<int64_t>(key_tokens(capture, map.kind).size());
  require(shape[kQueries] == queries && shape[kKeys] == keys,
          "{} is {}, but the capture has {} query tokens and {} key tokens", where, shape.text(),
          queries, keys);
}

}  // namespace

const std::vector<std::string>& query_tokens(const AttentionCapture& capture, AttentionKind kind) {
  return kind == AttentionKind::encoder_self ? capture.source_tokens : capture.target_tokens;
}

const std::vector<std::string>& key_tokens(const AttentionCapture& capture, AttentionKind kind) {
  return kind == AttentionKind::decoder_self ? capture.target_tokens : capture.source_tokens;
}

void check(const AttentionCapture& capture) {
  require(!capture.maps.empty(), "the attention capture{}{} contains no maps",
          capture.model_name.empty() ? "" : " of ", capture.model_name);
  std::set<std::pair<AttentionKind, int>> seen;
  for (const AttentionMap& map : capture.maps) {
    check(capture, map);
    require(seen.emplace(map.kind, map.layer).second,
            "{} attention of layer {} occurs twice in the capture", name_of(map.kind), map.layer);
  }
}

const AttentionMap& map_of(const AttentionCapture& capture, AttentionKind kind, int layer) {
  check(capture);
  std::string layers;
  for (const AttentionMap& map : capture.maps) {
    if (map.kind != kind) continue;
    if (map.layer == layer) return map;
    layers += fmt::format("{}{}", layers.empty() ? "" : ", ", map.layer);
  }
  fail("no {} attention of layer {} was captured; captured layers: {}", name_of(kind), layer,
       layers.empty() ? "none" : layers);
}

std::string title_of(const AttentionMap& map, std::optional<int> head) {
  std::string_view kind = "Cross-attention";
  if (map.kind == AttentionKind::encoder_self) kind = "Encoder self-attention";
  if (map.kind == AttentionKind::decoder_self) kind = "Masked decoder self-attention";
  const int64_t heads = map.weights.shape()[kHeads];
  return head ? fmt::format("{}, layer {}, head {} of {}", kind, map.layer + 1, *head + 1, heads)
              : fmt::format("{}, layer {}, mean of {} heads", kind, map.layer + 1, heads);
}

Tensor weights_of(const AttentionMap& map, std::optional<int> head) {
  const Shape& shape = map.weights.shape();
  const int64_t heads = shape[kHeads], queries = shape[kQueries], keys = shape[kKeys];
  require(!head || (*head >= 0 && *head < heads),
          "{} attention of layer {} has heads 0 to {}, found head {}", name_of(map.kind), map.layer,
          heads - 1, head.value_or(0));
  Tensor weights = Tensor::zeros({queries, keys});
  if (weights.elements() == 0) return weights;
  float* sums = weights.data<float>();
  const int64_t first = head.value_or(0), count = head ? 1 : heads;
  for (int64_t h = first; h < first + count; ++h) {
    const float* from = map.weights.data<float>() + h * weights.elements();
    for (int64_t i = 0; i < weights.elements(); ++i)
      if (std::isfinite(from[i])) sums[i] += from[i] / static_cast<float>(count);
  }
  return weights;
}

}  // namespace heed::inspect
