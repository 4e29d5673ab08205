#pragma once

#include <string>
#include <vector>

#include "heed/serve/fields/json_fields.h"
#include "heed/serve/translation/translation_call.h"
#include "heed/serve/translation/translation_path.h"

namespace heed::serve {

/// translate() along a path, whose first model is that of the call; the languages of `options` are
/// those of the texts and of the answer. Of two steps the usage is the input of the first and the
/// output of both, and an alignment leads back to the texts.
void translate_along(const ModelCall& call, const TranslationPath& path,
                     const std::vector<std::string>& texts, const TranslateOptions& options,
                     const std::string& field, OnTranslated done);

/// The options of what the first model of a path does, in its own codes of the languages.
TranslateOptions first_step_options(const Model& first, const TranslationPath& path,
                                    const TranslateOptions& options);

/// What an answer says of two steps: the language between, and the model of the second.
Json via_json(const TranslationPath& path);

}  // namespace heed::serve
