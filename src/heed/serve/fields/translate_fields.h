#pragma once

#include <optional>

#include "heed/serve/fields/json_fields.h"
#include "heed/serve/services.h"
#include "heed/translation.h"

namespace heed::serve {

/// "source_language", "target_language", "num_beams", "n_best", "length_penalty", "max_new_tokens",
/// "via", "alignments", "glossary", "do_not_translate", "confidence". Throws ApiError as
/// JsonFields.
TranslateOptions read_translate_options(JsonFields& fields);

/// "document", "format", "max_sentence_tokens", "translate_placeholders", "keep_numbers" and
/// "sentence_language"; none unless "document" is true or "format" is given. Throws ApiError as
/// JsonFields.
std::optional<DocumentOptions> read_document_options(JsonFields& fields);

/// Replaces languages that the configuration gives the model, and that GET /v1/models lists, by the
/// model's own codes of them: by none if its files do not name languages.
void use_own_codes(const ModelCall& call, std::string& source, std::string& target);

}  // namespace heed::serve
