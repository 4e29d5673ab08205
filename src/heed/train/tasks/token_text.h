#pragma once

#include <string>
#include <vector>

#include "heed/data/windows.h"
#include "heed/train/tasks/task.h"
#include "heed/train/tasks/vocabulary.h"

namespace heed::train {

/// The text of a language model as it was read.
struct RawText {
  std::vector<std::string> train, valid;  // documents; no `valid`: windows of `train` are held out
};
RawText read_text(const DataConfig& data);
DataFingerprint fingerprint_of(const RawText& text);

/// The same as tokens, cut into windows.
struct TokenText {
  data::Documents documents;
  std::vector<data::Window> train, valid;
};

/// Turns documents into tokens, without special ones but with `suffix` behind each, and cuts them
/// into windows of `longest` tokens. Throws Error when there are too few to set one aside.
TokenText tokenize(const RawText& text, const text::Tokenizer& tokenizer,
                   const std::vector<int32_t>& suffix, int64_t longest, const TrainConfig& config,
                   const Log& log);

}  // namespace heed::train
