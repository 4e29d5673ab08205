#pragma once

#include <string>
#include <vector>

#include "heed/engine/detected_source.h"
#include "heed/serve/services.h"

namespace heed::serve {

/// The source languages of the translator of that name, in two letters.
std::vector<std::string> source_languages_of(const Services& services, const std::string& model);

/// The languages from which the translators, or two of them in turn, reach `target`, in two
/// letters: first those that need one step.
std::vector<std::string> source_languages_for(const Services& services, const std::string& target);

/// engine::detect_source() of several texts as one. Throws ApiError, which names `field`, where
/// that throws InputError.
engine::DetectedSource detect_source_of(const std::vector<std::string>& texts,
                                        const std::vector<std::string>& codes,
                                        const std::string& field);

/// The same with the codes that the model of a call translates from; the field is source_language.
engine::DetectedSource detect_source_of(const ModelCall& call,
                                        const std::vector<std::string>& texts);

}  // namespace heed::serve
