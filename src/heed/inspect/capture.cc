#include "heed/inspect/capture.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "heed/base/error.h"
#include "heed/generate/attention_blocks.h"
#include "heed/generate/search.h"
#include "heed/text/utf8.h"

namespace heed::inspect {
namespace {

constexpr std::string_view kSpace = "\u2581";

bool wanted(AttentionSite::Kind kind, const CaptureOptions& options) {
  switch (kind) {
    case AttentionSite::Kind::encoder_self:
      return options.encoder_self;
    case AttentionSite::Kind::decoder_self:
      return options.decoder_self;
    case AttentionSite::Kind::cross:
      return options.cross;
  }
  return false;
}

std::vector<int32_t> encode(const text::TranslationTokenizer& tokenizer, const std::string& text,
                            bool source) {
  require(text::is_valid_utf8(text), "the {} text is not valid UTF-8",
          source ? "source" : "target");
  std::vector<int32_t> tokens =
      source ? tokenizer.encode_source(text) : tokenizer.encode_target(text);
  require(tokens.size() > 1, "the {} text is empty", source ? "source" : "target");
  return tokens;
}

std::string display_text(const text::TranslationTokenizer& tokenizer, int32_t id) {
  return tokenizer.piece(id);
}

/// The decoded text of a byte-level piece, with U+2581 for a space. Pieces with a word marker
/// ("##", U+2581), special tokens and incomplete characters are shown as they are.
std::string display_text(const text::Tokenizer& tokenizer, int32_t id) {
  const std::string& piece = tokenizer.piece(id);
  if (tokenizer.is_special(id) || piece.starts_with("##") ||
      piece.find(kSpace) != std::string::npos)
    return piece;
  std::string text = tokenizer.decode(std::span(&id, 1), false);
  if (text.empty() || text.find("\uFFFD") != std::string::npos) return piece;
  if (text.front() == ' ') text.replace(0, 1, kSpace);
  return text;
}

template <typename Tokenizer>
StackInput stack_input(const Tokenizer& tokenizer, const std::string& text,
                       std::vector<int32_t> ids) {
  StackInput result{text, std::move(ids), {}};
  for (const int32_t id : result.ids) result.pieces.push_back(display_text(tokenizer, id));
  return result;
}

/// The start token followed by `target`, which must not end with end of sequence.
std::vector<int32_t> decoder_input(const model::Transformer& model,
                                   std::span<const int32_t> target) {
  std::vector<int32_t> input{model.config().decoder_start_id};
  input.insert(input.end(), target.begin(), target.end());
  return input;
}

std::vector<int32_t> greedy(const model::Transformer& model, const std::vector<int32_t>& source) {
  const std::vector<int32_t> offsets{0, static_cast<int32_t>(source.size())};
  return generate::search(model, DType::f32, {source, offsets}, {}).front().front().tokens;
}

using Observer = std::function<void(AttentionSite, const kernels::AttentionForward&)>;

/// Runs the model once on the input.
void observe(const model::Transformer& model, const ModelInput& input, Observer observer) {
  Context context;
  context.observe_attention = std::move(observer);
  model::Memory memory;
  if (model.has_encoder()) {
    const std::vector<int32_t> offsets{0, static_cast<int32_t>(input.source.ids.size())};
    memory = model.encode(context, {input.source.ids, offsets});
  }
  if (!model.has_decoder()) return;
  const std::vector<int32_t> offsets{0, static_cast<int32_t>(input.target.ids.size())};
  model.decode_all(context, {input.target.ids, offsets}, memory);
}

int64_t layers_of(const model::ModelConfig& config, AttentionKind kind) {
  return kind == AttentionKind::encoder_self ? config.encoder_layers : config.decoder_layers;
}

int64_t heads_of(const model::ModelConfig& config, AttentionKind kind) {
  return kind == AttentionKind::encoder_self ? config.encoder_heads : config.n_heads;
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

ModelInput read_input(const model::Transformer& model, const text::TranslationTokenizer& tokenizer,
                      const std::string& source, const std::string& target) {
  ModelInput input{stack_input(tokenizer, source, encode(tokenizer, source, true)), {}};
  if (!target.empty()) {
    std::vector<int32_t> ids = encode(tokenizer, target, false);
    ids.pop_back();  // end of sequence
    input.target = stack_input(tokenizer, target, decoder_input(model, ids));
    return input;
  }
  const std::vector<int32_t> found = greedy(model, input.source.ids);
  input.target =
      stack_input(tokenizer, tokenizer.decode_target(found), decoder_input(model, found));
  return input;
}

ModelInput read_input(const model::Transformer& model, const text::Tokenizer& tokenizer,
                      const std::string& text, const std::string& target) {
  const bool both = model.has_encoder() && model.has_decoder();
  require(both || target.empty(),
          "a target was given, but the model is {}, expected an encoder-decoder",
          model.has_encoder() ? "encoder-only" : "decoder-only");
  const StackInput read = stack_input(tokenizer, text, tokenizer.encode(text));
  require(!read.ids.empty(), "the text is empty");
  if (!both) return {read, read};
  const std::vector<int32_t> ids =
      target.empty() ? greedy(model, read.ids) : tokenizer.encode(target, false);
  const std::string written = target.empty() ? tokenizer.decode(ids) : target;
  return {read, stack_input(tokenizer, written, decoder_input(model, ids))};
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
  if (!model.has_decoder()) return default_choice(model, AttentionKind::encoder_self);
  return default_choice(model,
                        model.has_encoder() ? AttentionKind::cross : AttentionKind::decoder_self);
}

HeadChoice default_choice(const model::Transformer& model, AttentionKind kind) {
  return {.kind = kind, .layer = static_cast<int>(layers_of(model.config(), kind)) - 1};
}

void check(const model::Transformer& model, const HeadChoice& choice) {
  const auto& [kind, layer, head] = choice;
  const bool in_encoder = kind == AttentionKind::encoder_self;
  const bool present = in_encoder                     ? model.has_encoder()
                       : kind == AttentionKind::cross ? model.has_encoder() && model.has_decoder()
                                                      : model.has_decoder();
  require(present, "the model has no {} attention: it is {}", name_of(kind),
          model.has_encoder() ? "encoder-only" : "decoder-only");
  const int64_t layers = layers_of(model.config(), kind), heads = heads_of(model.config(), kind);
  require(layer >= 0 && layer < layers, "layer is {}, expected 1 to {}, the layers of the {}",
          layer + 1, layers, in_encoder ? "encoder" : "decoder");
  require(!head || (*head >= 0 && *head < heads), "head is {}, expected 1 to {}",
          head.value_or(0) + 1, heads);
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
  HeadMap map{choice, heads_of(model.config(), choice.kind), Tensor::zeros({queries, keys})};
  observe(model, input, [&](AttentionSite site, const kernels::AttentionForward& forward) {
    if (site.kind != choice.kind || site.layer != choice.layer) return;
    generate::visit_attention_weights(forward, [&](int64_t first_query, const Tensor& weights) {
      add_weights(map, first_query, weights);
    });
  });
  return map;
}

AttentionCapture capture_attention(const model::Transformer& model, const ModelInput& input,
                                   const CaptureOptions& options) {
  AttentionPacker packer(options.budget);
  observe(model, input, [&](AttentionSite site, const kernels::AttentionForward& forward) {
    if (!wanted(site.kind, options)) return;
    generate::visit_attention_weights(
        forward, [&](int64_t, const Tensor& weights) { packer.add(site, weights); });
  });
  return {texts_of(model, input), packer.finish()};
}

}  // namespace heed::inspect
