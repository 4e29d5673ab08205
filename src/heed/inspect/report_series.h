#pragma once

#include <string>

#include "heed/inspect/training_report.h"

namespace heed::inspect {

/// The curves of a report as JSON, columns by name:
/// {"steps": {"step": [...], "seconds": [...], "loss": [...], "loss_low": [...], "loss_high":
/// [...],
///            "gradient_norm": [...], "gradient_norm_low": [...], "gradient_norm_high": [...],
///            "learning_rate": [...], "tokens_per_second": [...]},
///  "validations": {"step": [...], "seconds": [...], "loss": [...], "perplexity": [...],
///                  "bleu": [...], "chrf": [...]}}
/// More than 1000 steps are joined in equal groups: the last step and time, the mean of the rest,
/// and for loss and gradient norm the least and greatest of the group. What is not finite is null.
std::string report_series(const TrainingReport& report);

}  // namespace heed::inspect
