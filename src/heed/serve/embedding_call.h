#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heed/serve/prompts.h"
#include "heed/serve/services.h"

namespace heed::serve {

/// The tokens of a text to embed, which is its text with the prompt, cut to what the model reads if
/// `truncate`. Throws ApiError, which names `path`, when there are none or too many.
std::vector<int32_t> tokens_to_embed(const Model& model, TokenizedText input, bool truncate,
                                     const std::string& path);
/// Scales a vector to length 1; zeros stay.
void scale_to_unit_length(std::vector<float>& vector);
/// The first `dimensions` numbers, scaled to length 1 again if some are left out, as OpenAI does.
void shorten(std::vector<float>& vector, size_t dimensions);

/// Receives the vector of text `number`, on the compute thread.
using OnVector = std::function<void(size_t number, std::vector<float> vector)>;
/// Called there when all vectors were received, with the number of their tokens.
using OnEmbedded = std::function<void(int64_t tokens)>;
/// Embeds texts, which `field` names in errors; those that are too long are cut if `truncate`.
/// Throws ApiError as tokens_to_embed() and Call::enqueue().
void embed(const ModelCall& call, std::vector<TokenizedText> input, bool truncate,
           const std::string& field, OnVector on_vector, OnEmbedded done);

/// The tokens of texts with the prompt before each (in place of the model's default), for embed().
/// Throws ApiError when one is far too long and must not be cut.
std::vector<TokenizedText> read_to_embed(const Model& model, const std::vector<std::string>& texts,
                                         const std::string& prompt, bool truncate,
                                         const std::string& field);

/// Makes the body of a response of all vectors and the number of their tokens.
using JsonOfVectors = std::function<Json(std::vector<std::vector<float>>& vectors, int64_t tokens)>;
/// Embeds texts as embed() does and responds.
void embed_and_respond(const ModelCall& call, std::vector<TokenizedText> input, bool truncate,
                       const std::string& field, JsonOfVectors json_of);

}  // namespace heed::serve
