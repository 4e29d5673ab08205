#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/embedding_precision.h"
#include "heed/serve/services.h"

namespace heed::serve {

/// What stands before each text because a field says what the texts are for: the prompt of this or
/// a similar name in the model's files ("query", "search_query", "retrieval.query"). Without the
/// field it is their default prompt, and where they have none of the name, the field is reported as
/// ignored. Throws ApiError when the model does not pool prompts and this is not its default.
std::string read_text_purpose(JsonFields& fields, std::string_view name, const Model& model);
/// The prompt with the name that a field has, or the default prompt. Throws ApiError when there is
/// none, and as read_text_purpose() does.
std::string read_prompt_name(JsonFields& fields, std::string_view name, const Model& model);

/// Whether vectors are scaled to length 1, if a field of this name says so; otherwise they are what
/// the model gives. Throws ApiError when it is false and the model's files say that it does.
bool read_normalize(JsonFields& fields, std::string_view name, const Model& model);

/// The vectors of an answer.
struct VectorForm {
  size_t dimensions = 0;  // the first so many numbers, scaled to length 1 again
  bool normalize = false;
  EmbedPrecision precision = EmbedPrecision::float32;
  bool base64 = false;  // of the bytes; those of floats are little-endian
  std::shared_ptr<const EmbeddingRanges> ranges = {};  // of int8 and uint8

  Json json(std::vector<float> vector) const;
};

/// The precision that a field calls "float", "int8", "uint8", "binary" or "ubinary".
EmbedPrecision precision_named(std::string_view name);
/// Takes the ranges of the model if the form needs them. Throws ApiError, which names the `field`
/// that asks for it, when there are none, or of another number of dimensions.
void set_ranges(VectorForm& form, const ModelCall& call, const std::string& field);

/// The field of a number of dimensions.
size_t read_dimensions(JsonFields& fields, std::string_view name, const Model& model);

}  // namespace heed::serve
