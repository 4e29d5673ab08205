#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/ops/context.h"
#include "heed/tensor/tensor.h"

namespace heed::inspect {

/// The three kinds of attention of a Transformer (Vaswani et al. 2017, section 3.2.3).
using AttentionKind = AttentionSite::Kind;

/// The attention weights of all heads of one layer: softmax(Q K^T / sqrt(d)) of each.
struct AttentionMap {
  AttentionKind kind = AttentionKind::cross;
  int layer = 0;   ///< counted from 0
  Tensor weights;  ///< [H, Tq, Tk] f32; each row over Tk sums to 1; NaN is shown as 0
};

/// The tokens of one text or sentence pair as the model reads them, and the captured attention.
struct AttentionCapture {
  /// Token texts for display, with U+2581 for a space. target_tokens is the decoder's input: step t
  /// reads token t and predicts token t + 1.
  std::vector<std::string> source_tokens, target_tokens;
  std::string source_text, target_text;
  std::string model_name;
  std::vector<AttentionMap> maps;
};

/// The query tokens (rows) and the key tokens (columns) of maps of this kind.
const std::vector<std::string>& query_tokens(const AttentionCapture& capture, AttentionKind kind);
const std::vector<std::string>& key_tokens(const AttentionCapture& capture, AttentionKind kind);

/// Throws Error unless there is at least one map, each map is [H, Tq, Tk] f32 with H > 0 and Tq and
/// Tk the numbers of its query and key tokens, and each (kind, layer) occurs once.
void check(const AttentionCapture& capture);

/// The map of a kind and layer. Throws Error that lists the captured layers when there is none.
const AttentionMap& map_of(const AttentionCapture& capture, AttentionKind kind, int layer);

/// A title for display: "Cross-attention, layer 3, head 2 of 8" or "..., mean of 8 heads", counted
/// from 1.
std::string title_of(const AttentionMap& map, std::optional<int> head);

/// [Tq, Tk], the weights of one head (counted from 0), or their mean over the heads when `head` is
/// absent. NaN and infinity become 0. Throws Error when there is no such head.
Tensor weights_of(const AttentionMap& map, std::optional<int> head);

}  // namespace heed::inspect
