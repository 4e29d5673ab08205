#pragma once

#include "heed/serve/json_fields.h"
#include "heed/translation.h"

namespace heed::serve {

/// "source_language", "target_language", "num_beams", "n_best", "length_penalty", "max_new_tokens",
/// "alignments". Throws ApiError as JsonFields.
TranslateOptions read_translate_options(JsonFields& fields);

}  // namespace heed::serve
