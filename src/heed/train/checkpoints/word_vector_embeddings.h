#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "heed/model/transformer.h"

namespace heed::train {

/// Reads a whole word2vec file. Throws Error when it is damaged or its vectors do not have d_model
/// dimensions.
void check_word_vectors(const std::filesystem::path& file, int64_t d_model);

/// Initialises the embedding rows of all tokens that have a vector in the word2vec file (text or
/// binary); a token is looked up as its piece without the space mark. All vectors are multiplied by
/// one factor, which gives their elements the standard deviation of the random rows. Returns the
/// number of rows set. Throws Error when the vectors do not have d_model dimensions, or when no
/// piece has a vector.
int64_t init_from_word_vectors(model::Transformer& model,
                               const std::function<std::string(int32_t)>& piece,
                               const std::filesystem::path& file);

}  // namespace heed::train
