#include "heed/inspect/attention/capture.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/error.h"

namespace heed::inspect {
namespace {

/// Calls on_weights(first_query, weights) with the weights of a pass over a single sequence.
template <typename OnWeights>
void visit_weights(const kernels::AttentionForward& in, const OnWeights& on_weights) {
  constexpr int64_t kBlockWeights = int64_t{1} << 22;
  const int64_t queries = in.spans.q_offsets.back();
  const int64_t keys = in.spans.kv_end.front() - in.spans.kv_begin.front();
  const int64_t step =
      std::max<int64_t>(kBlockWeights / (in.options.n_heads * std::max<int64_t>(keys, 1)), 1);
  for (int64_t begin = 0; begin < queries; begin += step)
    on_weights(
        begin,
        kernels::attention_weights(in, {0, begin, std::min(begin + step, queries)}).to(nullptr));
}

/// Adds a block of queries of the chosen head, or of the mean of all heads, to the map.
void add_weights(HeadMap& map, int64_t first_query, const Tensor& weights) {
  const int64_t queries = weights.shape()[1], keys = weights.shape()[2];
  const int64_t shown = map.weights.cols();
  const int64_t head = map.choice.head.value_or(0), count = map.choice.head ? 1 : map.heads;
  for (int64_t h = head; h < head + count; ++h)
    for (int64_t q = 0; q < queries; ++q) {
      const float* from = weights.data<float>() + (h * queries + q) * keys;
      float* to = map.weights.data<float>() + (first_query + q) * shown;
      for (int64_t k = 0; k < shown; ++k)
        if (std::isfinite(from[k])) to[k] += from[k] / static_cast<float>(count);
    }
}

}  // namespace

std::vector<AttentionKind> attention_kinds(const model::Transformer& model) {
  using enum AttentionKind;
  if (!model.has_decoder()) return {encoder_self};
  if (!model.has_encoder()) return {decoder_self};
  return {encoder_self, decoder_self, cross};
}

int64_t attention_layers(const model::ModelConfig& config, AttentionKind kind) {
  return kind == AttentionKind::encoder_self ? config.encoder_layers : config.decoder_layers;
}

int64_t attention_heads(const model::ModelConfig& config, AttentionKind kind) {
  return kind == AttentionKind::encoder_self ? config.encoder_heads : config.n_heads;
}

void observe_attention_weights(const model::Transformer& model, const ModelInput& input,
                               const std::function<bool(AttentionSite)>& wanted,
                               const OnAttentionWeights& on_weights) {
  Context context{.dtype = input.dtype};
  context.observe_attention = [&](AttentionSite site, const kernels::AttentionForward& forward) {
    if (!wanted(site)) return;
    visit_weights(forward, [&](int64_t first_query, const Tensor& weights) {
      const DeviceScope host(nullptr);
      on_weights(site, first_query, weights);
    });
  };
  model::Memory memory;
  if (model.has_encoder()) {
    const std::vector<int32_t> offsets{0, static_cast<int32_t>(input.source.ids.size())};
    memory = model.encode(context, {input.source.ids, offsets});
  }
  if (!model.has_decoder()) return;
  const std::vector<int32_t> offsets{0, static_cast<int32_t>(input.target.ids.size())};
  model.decode_all(context, {input.target.ids, offsets}, memory);
}

AttentionTexts texts_of(const model::Transformer& model, const ModelInput& input) {
  AttentionTexts texts;
  if (model.has_encoder()) {
    texts.source_text = input.source.text;
    texts.source_tokens = input.source.pieces;
  }
  if (model.has_decoder()) {
    texts.target_text = input.target.text;
    texts.target_tokens = input.target.pieces;
  }
  return texts;
}

HeadChoice default_choice(const model::Transformer& model) {
  return default_choice(model, attention_kinds(model).back());
}

HeadChoice default_choice(const model::Transformer& model, AttentionKind kind) {
  return {.kind = kind, .layer = static_cast<int>(attention_layers(model.config(), kind)) - 1};
}

void check(const model::Transformer& model, const HeadChoice& choice) {
  const auto& [kind, layer, head] = choice;
  const bool in_encoder = kind == AttentionKind::encoder_self;
  const std::vector<AttentionKind> kinds = attention_kinds(model);
  const bool present = std::ranges::find(kinds, kind) != kinds.end();
  require(present, "the model has no {} attention: it is {}", name_of(kind),
          model.has_encoder() ? "encoder-only" : "decoder-only");
  const int64_t layers = attention_layers(model.config(), kind),
                heads = attention_heads(model.config(), kind);
  require(layer >= 0 && layer < layers, "layer is {}, expected 0 to {}, the layers of the {}",
          layer, layers - 1, in_encoder ? "encoder" : "decoder");
  require(!head || (*head >= 0 && *head < heads), "head is {}, expected 0 to {}", head.value_or(0),
          heads - 1);
}

HeadMap capture_head(const model::Transformer& model, const ModelInput& input,
                     const HeadChoice& choice, int64_t max_keys) {
  constexpr int64_t kMaxWeights = int64_t{1} << 28;
  check(model, choice);
  const AttentionTexts texts = texts_of(model, input);
  const auto queries = std::ssize(query_tokens(texts, choice.kind));
  const auto keys = std::min<int64_t>(std::ssize(key_tokens(texts, choice.kind)), max_keys);
  require(
      keys == 0 || queries <= kMaxWeights / keys,
      "the attention of {} queries to {} keys is too large to show, expected at most {} weights",
      queries, keys, kMaxWeights);
  HeadMap map{choice, attention_heads(model.config(), choice.kind), Tensor::zeros({queries, keys})};
  observe_attention_weights(
      model, input,
      [&](AttentionSite site) { return site.kind == choice.kind && site.layer == choice.layer; },
      [&](AttentionSite, int64_t first_query, const Tensor& weights) {
        add_weights(map, first_query, weights);
      });
  return map;
}

AttentionCapture capture_attention(const model::Transformer& model, const ModelInput& input,
                                   const CaptureOptions& options) {
  AttentionEncoder encoder(options.budget);
  observe_attention_weights(
      model, input, [&](AttentionSite site) { return !options.kind || site.kind == *options.kind; },
      [&](AttentionSite site, int64_t, const Tensor& weights) { encoder.add(site, weights); });
  return {texts_of(model, input), encoder.finish()};
}

}  // namespace heed::inspect
