#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/inspect/attention/weight_encoding.h"
#include "heed/ops/context.h"
#include "heed/tensor/tensor.h"

namespace heed::inspect {

/// Bytes of base64 for the weights of one page: the target size, and the limit, beyond which
/// browsers do not open the page.
inline constexpr int64_t kPageBudget = int64_t{50} << 20;
inline constexpr int64_t kMaxPageBytes = int64_t{400} << 20;

/// The attention weights of all heads of some layers, encoded for a page (weight_encoding.h).
struct EncodedAttention {
  struct Map {
    AttentionKind kind = AttentionKind::cross;
    int layer = 0;  ///< counted from 0
    int64_t queries = 0, keys = 0;
    std::vector<std::string> heads;  ///< encoded weights, row by row
  };
  std::vector<Map> maps;
  int floor = 1;        ///< codes below it are 0, in all maps
  int64_t missing = 0;  ///< weights that were not finite and are shown as 0
};

/// Encodes weights while a forward pass computes them, so that memory holds only the encoded ones.
class AttentionEncoder {
 public:
  /// Weights below 1/255 are dropped, smallest first, until the rest fits `budget` bytes of base64.
  explicit AttentionEncoder(int64_t budget = kPageBudget) : budget_(budget) {}

  /// Adds the next queries of a layer: weights [H, n, Tk] f32. All queries of a layer are added in
  /// order before those of the next layer. Throws Error when a layer is added again after another,
  /// when its sizes change, and when the encoded weights exceed kMaxPageBytes.
  void add(AttentionSite site, const Tensor& weights);

  /// The encoded weights. To be called once, after the last add().
  EncodedAttention finish();

 private:
  /// The map of the site: the last one, or a new one.
  EncodedAttention::Map& map_for(AttentionSite site, const Tensor& weights);
  int64_t bytes() const;
  int fitting_floor() const;
  void raise_floor(int floor);

  int64_t budget_;
  EncodedAttention encoded_;
  std::vector<WeightEncoder> encoders_;  // one per head, of all maps in order
};

}  // namespace heed::inspect
