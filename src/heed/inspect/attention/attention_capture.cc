#include "heed/inspect/attention/attention_capture.h"

#include "heed/base/error.h"

namespace heed::inspect {

const std::vector<std::string>& query_tokens(const AttentionTexts& texts, AttentionKind kind) {
  return kind == AttentionKind::encoder_self ? texts.source_tokens : texts.target_tokens;
}

const std::vector<std::string>& key_tokens(const AttentionTexts& texts, AttentionKind kind) {
  return kind == AttentionKind::decoder_self ? texts.target_tokens : texts.source_tokens;
}

std::string title_of(const HeadMap& map) {
  const auto& [kind, layer, head] = map.choice;
  std::string_view name = "Cross-attention";
  if (kind == AttentionKind::encoder_self) name = "Encoder self-attention";
  if (kind == AttentionKind::decoder_self) name = "Masked decoder self-attention";
  return head ? fmt::format("{}, layer {}, head {}", name, layer, *head)
              : fmt::format("{}, layer {}, mean of {} heads", name, layer, map.heads);
}

void check(const AttentionTexts& texts, const HeadMap& map) {
  const Tensor& weights = map.weights;
  const AttentionKind kind = map.choice.kind;
  const int64_t queries = std::ssize(query_tokens(texts, kind)),
                keys = std::ssize(key_tokens(texts, kind));
  require(weights.defined() && weights.dtype() == DType::f32 && weights.shape().rank() == 2,
          "the {} attention weights are not an f32 matrix", name_of(kind));
  require(weights.rows() == queries && weights.cols() <= keys,
          "{} attention is {}, the texts have {} queries and {} keys", name_of(kind),
          weights.shape().text(), queries, keys);
}

void check(const AttentionCapture& capture) {
  const AttentionTexts& texts = capture.texts;
  require(!capture.weights.maps.empty(), "the capture has no attention maps");
  for (const EncodedAttention::Map& map : capture.weights.maps) {
    const int64_t queries = std::ssize(query_tokens(texts, map.kind));
    const int64_t keys = std::ssize(key_tokens(texts, map.kind));
    require(map.queries == queries && map.keys == keys,
            "{} attention of layer {} is [{}, {}], the texts have {} queries and {} keys",
            name_of(map.kind), map.layer, map.queries, map.keys, queries, keys);
  }
}

}  // namespace heed::inspect
