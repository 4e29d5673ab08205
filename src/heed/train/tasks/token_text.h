#pragma once

#include <string>
#include <vector>

#include "heed/data/windows.h"
#include "heed/train/tasks/task.h"
#include "heed/train/tasks/vocabulary.h"

namespace heed::train {

/// Documents for a language model, as read.
struct RawText {
  std::vector<std::string> train, valid;  // no `valid`: windows of `train` are held out
};
RawText read_text(const DataConfig& data);
DataFingerprint fingerprint_of(const RawText& text);

/// The tokens of documents, cut into windows.
struct TokenText {
  data::Documents documents;
  std::vector<data::Window> train, valid;
};

/// Encodes documents without special tokens, appends `suffix` to each, and cuts them into windows
/// of at most `longest` tokens. Throws Error when there are too few windows to hold one out.
TokenText tokenize(const RawText& text, const text::Tokenizer& tokenizer,
                   const std::vector<int32_t>& suffix, int64_t longest, const TrainConfig& config,
                   Observer& observer);

}  // namespace heed::train
