#include "heed/inspect/capture.h"

#include "heed/base/error.h"
#include "heed/generate/search.h"
#include "heed/text/utf8.h"

namespace heed::inspect {
namespace {

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

std::vector<std::string> pieces_of(const text::TranslationTokenizer& tokenizer,
                                   const std::vector<int32_t>& tokens) {
  std::vector<std::string> pieces;
  for (const int32_t token : tokens) pieces.push_back(tokenizer.piece(token));
  return pieces;
}

}  // namespace

AttentionCapture capture_attention(const model::Transformer& model,
                                   const text::TranslationTokenizer& tokenizer,
                                   const std::string& source, const std::string& target,
                                   const CaptureOptions& options) {
  AttentionCapture capture;
  capture.source_text = source;
  capture.target_text = target;
  const std::vector<int32_t> ids = encode(tokenizer, source, true);
  const std::vector<int32_t> offsets{0, static_cast<int32_t>(ids.size())};

  // The decoder reads the start token and all of the target but its end.
  std::vector<int32_t> input{model.config().start_id};
  if (target.empty()) {
    const auto found = generate::search(model, DType::f32, {ids, offsets}, {});
    const std::vector<int32_t>& tokens = found.front().front().tokens;
    capture.target_text = tokenizer.decode_target(tokens);
    input.insert(input.end(), tokens.begin(), tokens.end());
  } else {
    const std::vector<int32_t> tokens = encode(tokenizer, target, false);
    input.insert(input.end(), tokens.begin(), tokens.end() - 1);
  }
  const std::vector<int32_t> input_offsets{0, static_cast<int32_t>(input.size())};
  capture.source_tokens = pieces_of(tokenizer, ids);
  capture.target_tokens = pieces_of(tokenizer, input);

  Context context;
  context.observe_attention = [&](AttentionSite site, const kernels::AttentionForward& forward) {
    if (wanted(site.kind, options))
      capture.maps.push_back({site.kind, site.layer, kernels::attention_weights(forward, 0)});
  };
  const model::Memory memory = model.encode(context, {ids, offsets});
  model.decode_all(context, {input, input_offsets}, memory);
  return capture;
}

}  // namespace heed::inspect
