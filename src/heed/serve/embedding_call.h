#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heed/serve/prompts.h"
#include "heed/serve/services.h"

namespace heed::serve {

/// The tokens of a text to embed, cut to what the model reads if `truncate`. Throws ApiError, which
/// names `path`, when there are none or too many.
std::vector<int32_t> tokens_to_embed(const Model& model, TokenizedText input, bool truncate,
                                     const std::string& path);
/// Scales a vector to length 1; zeros stay.
void scale_to_unit_length(std::vector<float>& vector);
/// The first `dimensions` numbers, scaled to length 1 again if some are left out, as OpenAI does.
void shorten(std::vector<float>& vector, size_t dimensions);

/// Receives the vectors of a call's texts, and the number of their tokens, on the compute thread.
using OnEmbedded =
    std::function<void(Call& call, std::vector<std::vector<float>> vectors, int64_t tokens)>;
/// Embeds texts. `field` names them in errors. Throws ApiError as tokens_to_embed() and
/// Call::enqueue().
void embed(const ModelCall& call, const std::vector<std::string>& texts, bool truncate,
           const std::string& field, OnEmbedded done);

}  // namespace heed::serve
