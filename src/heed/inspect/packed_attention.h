#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/inspect/weight_code.h"
#include "heed/ops/context.h"
#include "heed/tensor/tensor.h"

namespace heed::inspect {

/// The three places where a Transformer attends (Vaswani et al. 2017, section 3.2.3).
using AttentionKind = AttentionSite::Kind;

/// What the weights of one page should take, in bytes of base64, and what they may take at most: no
/// browser opens a larger page.
inline constexpr int64_t kPageBudget = int64_t{50} << 20;
inline constexpr int64_t kMaxPageWeights = int64_t{400} << 20;

/// The attention weights of all heads of some layers, as a page carries them (weight_code.h).
struct PackedAttention {
  struct Map {
    AttentionKind kind = AttentionKind::cross;
    int layer = 0;  ///< counted from 0
    int64_t queries = 0, keys = 0;
    std::vector<std::string> heads;  ///< packed weights, row by row
  };
  std::vector<Map> maps;
  int floor = 1;        ///< of all of them
  int64_t missing = 0;  ///< weights that were not finite and are shown as 0
};

/// Packs weights as a forward pass makes them, so that no more is in memory than a page will hold.
class AttentionPacker {
 public:
  /// Small weights are dropped until all fit `budget` bytes of base64, but none of 1/255 or more.
  explicit AttentionPacker(int64_t budget = kPageBudget) : budget_(budget) {}

  /// Adds the next queries of a layer: weights [H, n, Tk] f32. The queries of a layer come one
  /// after the other, then those of another. Throws Error when a layer comes back after another
  /// one, when its sizes change, and when the weights do not fit kMaxPageWeights.
  void add(AttentionSite site, const Tensor& weights);

  /// All that was added. To be called once.
  PackedAttention finish();

 private:
  /// The map of the site, a new one unless it is that of the last call.
  PackedAttention::Map& map_for(AttentionSite site, const Tensor& weights);
  int64_t bytes() const;
  int fitting_floor() const;
  void raise_floor(int floor);

  int64_t budget_;
  PackedAttention packed_;
  std::vector<WeightPacker> packers_;  // of all heads of all maps
};

}  // namespace heed::inspect
