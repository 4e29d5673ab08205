#pragma once

#include <filesystem>
#include <vector>

#include "heed/checkpoint/model_directory.h"
#include "heed/data/parallel_text.h"
#include "heed/text/model_tokenizer.h"
#include "heed/train/config/config.h"
#include "heed/train/observer.h"

namespace heed::train {

/// The tokenizer of an encoder-decoder and the files that describe it.
struct PairTokenizer {
  text::ModelTokenizer tokenizer;
  std::vector<checkpoint::NamedFile> files;
};

/// The tokenizer of the model directory `start` or, if that is empty, one that is learned from
/// `sample`, with tokens of the languages that the configuration asks for. Sets the vocabulary size
/// and special tokens of `model`. Throws Error as prepare_task() does.
PairTokenizer prepare_pair_tokenizer(const TrainConfig& config,
                                     const std::vector<data::SentencePair>& sample,
                                     const std::filesystem::path& start, model::ModelConfig& model,
                                     Observer& observer);

}  // namespace heed::train
