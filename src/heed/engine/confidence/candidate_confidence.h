#pragma once

#include <string>
#include <vector>

#include "heed/engine/loaded_model.h"
#include "heed/generate/confidence/calibration.h"
#include "heed/translation.h"

namespace heed::engine {

/// The calibration for these languages. Throws Error, which says how to make one, when there is
/// none.
const generate::ConfidenceCalibration& calibration_for(
    const LoadedModel& model, const generate::CalibratedLanguages& languages);

/// Sets the confidence of a translation and of its words.
void add_confidence(const LoadedModel& model, const generate::ConfidenceCalibration& calibration,
                    Candidate& candidate);
/// The same for all candidates of the translations of `lines`, by the calibrations for the
/// languages of `options`, of which the source may be that of each line.
void add_confidence(const LoadedModel& model, const TranslateOptions& options,
                    const std::vector<std::string>& lines, std::vector<Translation>& translations);

}  // namespace heed::engine
