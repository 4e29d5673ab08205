#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heed/inspect/attention/encoded_attention.h"
#include "heed/ops/context.h"
#include "heed/tensor/tensor.h"

namespace heed::inspect {

/// The tokens of one text or sentence pair as the model reads them.
struct AttentionTexts {
  /// Texts of the tokens for display, with U+2581 for a space. target_tokens is the input of the
  /// decoder: step t reads token t and predicts token t + 1.
  std::vector<std::string> source_tokens, target_tokens;
  std::string source_text, target_text;
  std::string model_name;
};

/// The query tokens (rows) and the key tokens (columns) of this kind of attention.
const std::vector<std::string>& query_tokens(const AttentionTexts& texts, AttentionKind kind);
const std::vector<std::string>& key_tokens(const AttentionTexts& texts, AttentionKind kind);

/// One head of one layer, both counted from 0, or the mean of all heads when `head` is absent.
struct HeadChoice {
  AttentionKind kind = AttentionKind::cross;
  int layer = 0;
  std::optional<int> head = {};
};

/// The attention weights of one head or of the mean of the heads: softmax(Q K^T / sqrt(d)).
struct HeadMap {
  HeadChoice choice;
  int64_t heads = 0;  ///< number of heads of the layer
  /// [Tq, K] f32 for the first K of the Tk keys (a terminal shows those that fit). All finite.
  Tensor weights;
};

/// "Cross-attention, layer 3, head 2" or "..., mean of 8 heads", counted from 0.
std::string title_of(const HeadMap& map);

/// Throws Error unless the weights are [Tq, K] f32, Tq is the number of query tokens and K is at
/// most the number of key tokens.
void check(const AttentionTexts& texts, const HeadMap& map);

/// The attention of all heads of some layers, for a page.
struct AttentionCapture {
  AttentionTexts texts;
  EncodedAttention weights;
};

/// Throws Error unless there is at least one map and all maps match the numbers of tokens.
void check(const AttentionCapture& capture);

}  // namespace heed::inspect
