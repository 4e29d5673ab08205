#pragma once

#include <string>
#include <vector>

#include "heed/inspect/attention_capture.h"
#include "heed/model/transformer.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::inspect {

/// Which of the three kinds of attention to keep: a page of a long text need not carry all.
struct CaptureOptions {
  bool encoder_self = true, decoder_self = true, cross = true;
};

/// Runs a sentence and a target through the model once and keeps the weights of every layer and
/// head. Without a target (an empty text), the model's own greedy translation is taken. Throws
/// Error on text that is not UTF-8, is empty, or is longer than the model reads.
AttentionCapture capture_attention(const model::Transformer& model,
                                   const text::TranslationTokenizer& tokenizer,
                                   const std::string& source, const std::string& target,
                                   const CaptureOptions& options = {});

}  // namespace heed::inspect
