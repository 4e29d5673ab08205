#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/language.h"
#include "heed/serve/fields/json_fields.h"
#include "heed/serve/services.h"
#include "heed/serve/translation/given_documents.h"
#include "heed/serve/translation/translation_path.h"

namespace heed::serve {

/// What a call of LibreTranslate's API translates.
struct LibreTexts {
  std::vector<std::string> texts;
  std::string format;          // of a document: "text", "html", ...
  std::string field;           // that has them
  bool decoded = true;         // false: what a file says of its encoding counts
  bool is_list = false;        // of texts, in the field
  std::string file_name = {};  // of a file
};

/// "q" and "format". Throws ApiError.
LibreTexts read_libre_texts(JsonFields& fields);
/// "file" of a form, whose name tells the format. Throws ApiError.
LibreTexts read_libre_file(JsonFields& fields);

/// A call as it is answered.
struct LibreTranslation {
  TranslationPath path;
  Json detected;  // the language, where it was asked for
  GivenDocuments documents;
};
using OnLibreTranslated = std::function<void(Call& call, const LibreTranslation& translation,
                                             const std::vector<TranslatedText>& translated)>;

/// Reads the other fields ("source", "target"; "api_key", "secret" and "model" are known) and
/// translates, with `alternatives` further translations. Throws ApiError.
void translate_libre(const ModelCall& call, JsonFields& fields, const LibreTexts& texts,
                     int alternatives, OnLibreTranslated done);

/// As LibreTranslate has it, with whole percents.
Json libre_detected_json(const DetectedLanguage& language);
/// That a field is missing, in the words by which its clients know it.
ApiError missing_libre_field(std::string_view name);

}  // namespace heed::serve
