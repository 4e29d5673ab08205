#include "heed/inspect/attention/encoded_attention.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"

namespace heed::inspect {
namespace {

int64_t base64_size(int64_t bytes) { return bytes * 4 / 3; }

template <typename Body>
void for_each_encoder(std::span<WeightEncoder> encoders, const Body& body) {
  parallel_for(static_cast<int64_t>(encoders.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i, encoders[static_cast<size_t>(i)]);
  });
}

}  // namespace

EncodedAttention::Map& AttentionEncoder::map_for(AttentionSite site, const Tensor& weights) {
  const Shape& shape = weights.shape();
  require(shape.rank() == 3 && shape[0] > 0 && weights.dtype() == DType::f32,
          "{} attention of layer {} is {} {}, expected f32 [heads, queries, keys]",
          name_of(site.kind), site.layer, name_of(weights.dtype()), shape.text());
  std::vector<EncodedAttention::Map>& maps = encoded_.maps;
  const auto is_site = [&](const EncodedAttention::Map& map) {
    return map.kind == site.kind && map.layer == site.layer;
  };
  if (maps.empty() || !is_site(maps.back())) {
    require(std::ranges::none_of(maps, is_site), "{} attention of layer {} was captured twice",
            name_of(site.kind), site.layer);
    maps.push_back({site.kind, site.layer, 0, shape[2], {}});
    maps.back().heads.resize(static_cast<size_t>(shape[0]));
    encoders_.resize(encoders_.size() + static_cast<size_t>(shape[0]),
                     WeightEncoder(encoded_.floor));
  }
  require(maps.back().keys == shape[2] && std::ssize(maps.back().heads) == shape[0],
          "{} attention of layer {} is {}, expected {} heads and {} keys", name_of(site.kind),
          site.layer, shape.text(), maps.back().heads.size(), maps.back().keys);
  return maps.back();
}

void AttentionEncoder::add(AttentionSite site, const Tensor& weights) {
  EncodedAttention::Map& map = map_for(site, weights);
  map.queries += weights.shape()[1];
  const auto values = weights.values<float>();
  const size_t size = values.size() / map.heads.size();
  std::atomic<int64_t> missing = 0;
  for_each_encoder(
      std::span(encoders_).last(map.heads.size()), [&](int64_t head, WeightEncoder& own) {
        const auto part = values.subspan(static_cast<size_t>(head) * size, size);
        own.add(part);
        missing += std::ranges::count_if(part, [](float weight) { return !std::isfinite(weight); });
      });
  encoded_.missing += missing;
  // More weights can only raise the fitting floor, so raising it early loses nothing.
  if (base64_size(bytes()) > budget_) raise_floor(fitting_floor());
  require(base64_size(bytes()) <= kMaxPageBytes,
          "the attention weights of all heads take more than {} MiB: expected a shorter text",
          kMaxPageBytes >> 20);
}

int64_t AttentionEncoder::bytes() const {
  int64_t sum = 0;
  for (const WeightEncoder& encoder : encoders_) sum += encoder.bytes();
  return sum;
}

/// The lowest floor at which all weights fit the budget, or kMaxFloor if none does.
int AttentionEncoder::fitting_floor() const {
  std::array<int64_t, kMaxFloor + 1> totals{};
  for (const WeightEncoder& encoder : encoders_) {
    const auto sizes = encoder.sizes();
    for (size_t floor = 0; floor < sizes.size(); ++floor) totals[floor] += sizes[floor];
  }
  int floor = 1;
  while (floor < kMaxFloor && base64_size(totals[static_cast<size_t>(floor)]) > budget_) ++floor;
  return floor;
}

void AttentionEncoder::raise_floor(int floor) {
  if (floor <= encoded_.floor) return;
  encoded_.floor = floor;
  for_each_encoder(encoders_, [&](int64_t, WeightEncoder& encoder) { encoder.raise_floor(floor); });
}

EncodedAttention AttentionEncoder::finish() {
  raise_floor(fitting_floor());
  auto encoder = encoders_.begin();
  for (EncodedAttention::Map& map : encoded_.maps)
    for (std::string& head : map.heads) head = (encoder++)->take();
  return std::move(encoded_);
}

}  // namespace heed::inspect
