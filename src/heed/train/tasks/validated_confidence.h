#pragma once

#include <string>
#include <vector>

#include "heed/checkpoint/model_directory.h"
#include "heed/generate/confidence/fit_calibration.h"

namespace heed::train {

/// An example as text, which ranks send each other.
std::string text_of(const generate::ConfidenceExample& example);

/// The file with the calibration on these examples, for all languages of the model. Without one if
/// their words are too few: the file replaces that of earlier weights.
std::vector<checkpoint::NamedFile> calibration_files(const std::vector<std::string>& examples);

}  // namespace heed::train
