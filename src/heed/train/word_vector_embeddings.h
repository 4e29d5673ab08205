#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "heed/model/transformer.h"

namespace heed::train {

/// Reads a word2vec file to its end. Throws Error when it is none, and when its vectors' dimension
/// is not d_model.
void check_word_vectors(const std::filesystem::path& file, int64_t d_model);

/// Sets the embedding rows of those pieces that the word2vec file (text or binary) has a vector
/// for, by the piece without its space mark; the vectors are scaled together so that their elements
/// have the deviation of the rows that stay random. Returns how many were found. Throws Error when
/// the vectors' dimension is not d_model or none of the pieces is there.
int64_t init_from_word_vectors(model::Transformer& model,
                               const std::function<std::string(int32_t)>& piece,
                               const std::filesystem::path& file);

}  // namespace heed::train
