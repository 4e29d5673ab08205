#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/data/examples.h"
#include "heed/data/parallel_text.h"
#include "heed/text/translation_tokenizer.h"
#include "heed/train/config.h"

namespace heed::train {

/// What a run trains on and is judged by.
struct Dataset {
  text::TranslationTokenizer tokenizer;
  std::vector<data::Example> train, valid;
  std::vector<data::SentencePair> valid_text;
};

/// Reads the text that `config` names, sets pairs aside when there is no validation text, trains
/// the vocabulary (or loads the one in `tokenizer_directory`, when given, or `vocabulary.model`),
/// turns text into tokens and filters pairs. `say` hears one line about each. Throws Error on text
/// that cannot be used: missing, empty, of different lengths, not UTF-8, nothing left.
Dataset prepare_dataset(const TrainConfig& config, const std::filesystem::path& tokenizer_directory,
                        const std::function<void(const std::string&)>& say);

}  // namespace heed::train
