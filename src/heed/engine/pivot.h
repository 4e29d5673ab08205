#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/model.h"
#include "heed/translation.h"

namespace heed::engine {

/// Whether a translation has two steps: TranslateOptions::via or then.
bool has_pivot(const TranslateOptions& options);

/// The options of the two steps: from the source into TranslateOptions::via with the model `first`,
/// and from there into the target with the model of the second. Each model gets its own code of the
/// language between, and none if it has no choice of languages. Throws InputError when a model does
/// not know it, or when it is the source or the target itself.
TranslateOptions first_step(const Model& first, const TranslateOptions& options);
TranslateOptions second_step(const Model& second, const TranslateOptions& options);

/// `second`, an alignment with the words of a text in between, becomes one with the source's, with
/// which `first` aligns that text.
void compose_alignment(const std::vector<AlignedWords>& first, std::vector<AlignedWords>& second);

/// Model::translate_batch() in two steps.
std::vector<Translation> translate_via(const Model& first, const std::vector<std::string>& lines,
                                       const TranslateOptions& options, int64_t first_number);

}  // namespace heed::engine
