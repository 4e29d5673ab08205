#pragma once

#include "heed/distribute/group.h"
#include "heed/model/transformer.h"
#include "heed/text/tokenizer.h"
#include "heed/train/observer.h"

namespace heed::train {

/// The maximum number of tokens of a sample's output.
constexpr size_t kContinuationTokens = 48;

/// Sets the outputs of a record's samples to what the model makes of their prompts, sampled at
/// temperature 0.8. Each rank of the group continues its share. Collective.
void add_continuations(const model::Transformer& model, const text::Tokenizer& tokenizer,
                       Compute compute, uint64_t seed,
                       const std::vector<std::vector<int32_t>>& prompts, distribute::Group& group,
                       ValidationRecord& record);

/// The token before the first one of a text: beginning or end of sequence. Throws Error when the
/// model has neither.
int32_t start_token(const model::ModelConfig& model);

}  // namespace heed::train
