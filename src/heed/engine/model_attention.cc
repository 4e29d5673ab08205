#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/engine/loaded_model.h"
#include "heed/inspect/attention/capture.h"
#include "heed/model.h"

namespace heed {
namespace {

void check_index(const char* name, AttentionKind kind, std::optional<int> index, int64_t count) {
  require_input(!index || (*index >= 0 && *index < count),
                "{} {} of the {} attention does not exist, expected 0 to {}", name,
                index.value_or(0), name_of(kind), count - 1);
}

/// An empty map for each layer that `options` select.
std::vector<AttentionMap> maps_for(const model::Transformer& model,
                                   const inspect::ModelInput& input,
                                   const AttentionOptions& options) {
  std::vector<AttentionKind> kinds = inspect::attention_kinds(model);
  if (options.kind) {
    require_input(std::ranges::find(kinds, *options.kind) != kinds.end(),
                  "the model has no {} attention: it has only {} attention", name_of(*options.kind),
                  name_of(kinds.front()));
    kinds = {*options.kind};
  }
  std::vector<AttentionMap> maps;
  for (const AttentionKind kind : kinds) {
    const int64_t layers = inspect::attention_layers(model.config(), kind);
    const int64_t heads = inspect::attention_heads(model.config(), kind);
    check_index("layer", kind, options.layer, layers);
    check_index("head", kind, options.head, heads);
    const bool in_encoder = kind == AttentionKind::encoder_self;
    const bool of_source = in_encoder || kind == AttentionKind::cross;
    for (int layer = options.layer.value_or(0); layer < options.layer.value_or(layers - 1) + 1;
         ++layer)
      maps.push_back({.kind = kind,
                      .layer = layer,
                      .first_head = options.head.value_or(0),
                      .heads = options.head ? 1 : heads,
                      .queries = in_encoder ? input.source.pieces : input.target.pieces,
                      .keys = of_source ? input.source.pieces : input.target.pieces});
  }
  return maps;
}

/// Copies a block of queries, weights [H, n, Tk], into a map.
void copy_block(AttentionMap& map, int64_t first_query, const Tensor& weights) {
  const int64_t queries = weights.shape()[1], keys = weights.shape()[2];
  for (int64_t head = 0; head < map.heads; ++head) {
    const float* from = weights.data<float>() + (map.first_head + head) * queries * keys;
    float* to = map.weights.data() + (head * std::ssize(map.queries) + first_query) * keys;
    std::transform(from, from + queries * keys, to,
                   [](float x) { return std::isfinite(x) ? x : 0.0f; });
  }
}

}  // namespace

std::vector<AttentionMap> Model::attention(const std::string& text,
                                           const AttentionOptions& options) const {
  const ExecutorScope scope(*loaded_->executor);
  const model::Transformer& transformer = *loaded_->transformer;
  const inspect::ModelInput input = loaded_->attention_input(text, options);
  std::vector<AttentionMap> maps = maps_for(transformer, input, options);
  int64_t total = 0;
  for (AttentionMap& map : maps) {
    const int64_t rows = map.heads * std::ssize(map.queries), keys = std::ssize(map.keys);
    require_input(rows <= (options.max_weights - total) / std::max<int64_t>(keys, 1),
                  "there are more than {} attention weights: choose a kind, a layer or a head",
                  options.max_weights);
    total += rows * keys;
  }
  for (AttentionMap& map : maps)
    map.weights.resize(static_cast<size_t>(map.heads) * map.queries.size() * map.keys.size());
  const auto map_of = [&](AttentionSite site) {
    return std::ranges::find_if(maps, [&](const AttentionMap& map) {
      return map.kind == site.kind && map.layer == site.layer;
    });
  };
  inspect::observe_attention_weights(
      transformer, input, [&](AttentionSite site) { return map_of(site) != maps.end(); },
      [&](AttentionSite site, int64_t first_query, const Tensor& weights) {
        copy_block(*map_of(site), first_query, weights);
      });
  return maps;
}

}  // namespace heed
