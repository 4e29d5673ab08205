#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heed/serve/services.h"
#include "heed/translation.h"

namespace heed::serve {

/// A text and its translation, line by line.
struct TranslatedText {
  std::string text;                   // the best, with the line ends of the source
  std::vector<Candidate> candidates;  // best first; of several lines, the lines are joined
};

/// Receives the translations of a call's texts.
using OnTranslated = std::function<void(Call& call, const std::vector<TranslatedText>& texts,
                                        int64_t input_tokens, int64_t output_tokens)>;

/// Translates texts: each line is a request of the model's Session, so that many calls share steps.
/// The result is that of `heed translate`. `field` names the texts in errors. Throws ApiError as
/// GenerationCall::start().
void translate(const ModelCall& call, const std::vector<std::string>& texts,
               const TranslateOptions& options, const std::string& field, OnTranslated done);

}  // namespace heed::serve
