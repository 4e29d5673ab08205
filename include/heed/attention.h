#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Which tokens look at which: the three places where a Transformer attends (Vaswani et al. 2017,
/// section 3.2.3).
enum class AttentionKind {
  encoder_self,  // source tokens look at source tokens
  decoder_self,  // target tokens look at themselves and earlier target tokens
  cross          // target tokens look at source tokens
};

/// "encoder_self", "decoder_self" or "cross".
constexpr std::string_view name_of(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::encoder_self:
      return "encoder_self";
    case AttentionKind::decoder_self:
      return "decoder_self";
    case AttentionKind::cross:
      return "cross";
  }
  return "?";
}

/// Which attention weights to return; what is absent is not restricted.
struct AttentionOptions {
  /// The input of the decoder of an encoder-decoder; empty: its greedy output. Other models read
  /// one text only.
  std::string target = {};
  /// The languages of a multilingual translator, as in TranslateOptions; the source may be "auto".
  std::string source_language = {}, target_language = {};
  std::optional<AttentionKind> kind = {};  // which tokens look at which
  std::optional<int> layer = {};           // counted from 0
  std::optional<int> head = {};            // counted from 0
  int64_t max_weights = int64_t{1} << 28;  // Error if there are more

  bool operator==(const AttentionOptions&) const = default;
};

/// The attention weights softmax(Q K^T / sqrt(d)) of one layer (Vaswani et al. 2017, equation 1).
struct AttentionMap {
  AttentionKind kind = AttentionKind::encoder_self;  // which tokens look at which
  int layer = 0;                                     // counted from 0
  int first_head = 0;  // counted from 0; 0 unless AttentionOptions::head is given
  int64_t heads = 0;   // H
  /// The tokens as text, with U+2581 for a space: Tq queries and Tk keys. Queries of a decoder are
  /// its input: query t reads token t and predicts token t + 1.
  std::vector<std::string> queries, keys;
  /// [H, Tq, Tk]; each row sums to 1, up to rounding.
  std::vector<float> weights = {};
};

}  // namespace heed
