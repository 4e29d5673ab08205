#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/inspect/attention_capture.h"
#include "heed/model/transformer.h"
#include "heed/text/tokenizer.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::inspect {

/// Which of the three kinds of attention to capture; long texts make large pages.
struct CaptureOptions {
  bool encoder_self = true, decoder_self = true, cross = true;
};

/// The input of the encoder or the decoder: text, token ids and texts for display.
struct Reading {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<std::string> pieces;  // for display, one per id
};

/// Runs `source` through the encoder and `target` through the decoder once and captures the
/// attention weights of every layer and head. A decoder-only model ignores `source`, an
/// encoder-only model `target`. Throws Error on an input that is empty or exceeds the model's
/// context length.
AttentionCapture capture_attention(const model::Transformer& model, const Reading& source,
                                   const Reading& target, const CaptureOptions& options = {});

/// A sentence and its translation; an empty `target` is replaced by the model's greedy translation.
/// Throws Error on text that is not UTF-8 or exceeds the model's context length, and on an empty
/// source.
AttentionCapture capture_attention(const model::Transformer& model,
                                   const text::TranslationTokenizer& tokenizer,
                                   const std::string& source, const std::string& target,
                                   const CaptureOptions& options = {});

/// The same for a model of any family: an encoder-decoder reads `text` and `target` (the model's
/// greedy output if empty), other models read `text` alone. Throws Error likewise, and on a target
/// for a model that is not an encoder-decoder.
AttentionCapture capture_attention(const model::Transformer& model,
                                   const text::Tokenizer& tokenizer, const std::string& text,
                                   const std::string& target, const CaptureOptions& options = {});

}  // namespace heed::inspect
