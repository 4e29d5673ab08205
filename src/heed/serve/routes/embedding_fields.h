#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// What the numbers of a vector are.
enum class VectorNumbers {
  floats,  // f32
  binary,  // a bit for each that is positive, eight in a number from -128 to 127
  ubinary  // the same from 0 to 255
};

/// The vectors of an answer.
struct VectorForm {
  size_t dimensions = 0;  // the first so many numbers, scaled to length 1 again
  bool normalize = false;
  VectorNumbers numbers = VectorNumbers::floats;
  bool base64 = false;  // of the bytes; those of floats are little-endian

  Json json(std::vector<float> vector) const;
};

/// The field of a number of dimensions.
size_t read_dimensions(JsonFields& fields, std::string_view name, const Model& model);

}  // namespace heed::serve
