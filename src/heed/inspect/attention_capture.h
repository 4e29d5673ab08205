#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/ops/context.h"
#include "heed/tensor/tensor.h"

namespace heed::inspect {

/// The three places where a Transformer attends (Vaswani et al. 2017, section 3.2.3).
using AttentionKind = AttentionSite::Kind;

/// What all heads of one layer did: softmax(Q K^T / sqrt(d)) of each.
struct AttentionMap {
  AttentionKind kind = AttentionKind::cross;
  int layer = 0;   ///< counted from 0
  Tensor weights;  ///< [H, Tq, Tk] f32; each row over Tk sums to 1; NaN is shown as nothing
};

/// One sentence pair as a model saw it, with the attention of as many layers as were captured.
struct AttentionCapture {
  /// SentencePiece pieces (U+2581 for a space). The target's are the decoder's input: piece t is
  /// what step t reads, piece t + 1 what it is asked to predict.
  std::vector<std::string> source_tokens, target_tokens;
  std::string source_text, target_text;
  std::string model_name;
  std::vector<AttentionMap> maps;
};

/// The tokens that look (rows) and those that are looked at (columns) in maps of this kind.
const std::vector<std::string>& query_tokens(const AttentionCapture& capture, AttentionKind kind);
const std::vector<std::string>& key_tokens(const AttentionCapture& capture, AttentionKind kind);

/// Throws Error unless there is at least one map, each map is [H, Tq, Tk] f32 with H > 0 and Tq and
/// Tk the numbers of its tokens, and no layer occurs twice in a kind.
void check(const AttentionCapture& capture);

/// The map of a kind and layer; throws Error, naming the layers there are, when there is none.
const AttentionMap& map_of(const AttentionCapture& capture, AttentionKind kind, int layer);

/// "Cross-attention, layer 3, head 2 of 8" or "..., mean of 8 heads": counted from 1, for people.
std::string title_of(const AttentionMap& map, std::optional<int> head);

/// [Tq, Tk], the weights of one head (counted from 0), or their mean over the heads when `head` is
/// absent. What is not a number becomes 0. Throws Error when there is no such head.
Tensor weights_of(const AttentionMap& map, std::optional<int> head);

}  // namespace heed::inspect
