#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/inspect/attention_capture.h"
#include "heed/model/transformer.h"
#include "heed/text/tokenizer.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::inspect {

/// Which of the three kinds of attention to keep: a page of a long text need not carry all.
struct CaptureOptions {
  bool encoder_self = true, decoder_self = true, cross = true;
};

/// What a stack of a model reads, as the model and as people see it.
struct Reading {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<std::string> pieces;  // one for each id
};

/// Runs what the encoder and what the decoder reads through the model once and keeps the weights of
/// every layer and head. A model without an encoder ignores `source`, one without a decoder
/// `target`. Throws Error on a reading that is empty or longer than the model reads.
AttentionCapture capture_attention(const model::Transformer& model, const Reading& source,
                                   const Reading& target, const CaptureOptions& options = {});

/// A sentence and its translation; without one (an empty text), the model's own greedy one. Throws
/// Error on text that is not UTF-8, is empty, or is longer than the model reads.
AttentionCapture capture_attention(const model::Transformer& model,
                                   const text::TranslationTokenizer& tokenizer,
                                   const std::string& source, const std::string& target,
                                   const CaptureOptions& options = {});

/// A text as a model of any family reads it: by its encoder, with a target (or the model's own
/// greedy one) by the decoder behind it, or by a decoder alone. Throws Error likewise, and on a
/// target for a model that is no encoder-decoder.
AttentionCapture capture_attention(const model::Transformer& model,
                                   const text::Tokenizer& tokenizer, const std::string& text,
                                   const std::string& target, const CaptureOptions& options = {});

}  // namespace heed::inspect
