#pragma once

#include <string>

#include "heed/inspect/report/training_report.h"

namespace heed::inspect {

/// The curves of a report as JSON columns:
/// {"steps": {"step": [...], "seconds": [...],
///            "loss": [...], "loss_min": [...], "loss_max": [...],
///            "gradient_norm": [...], "gradient_norm_min": [...], "gradient_norm_max": [...],
///            "learning_rate": [...], "tokens_per_second": [...]},
///  "validations": {"step": [...], "seconds": [...], "loss": [...], "perplexity": [...],
///                  "metric": [...], "bleu": [...], "chrf": [...]}}
/// More than 1000 steps are aggregated in groups of equal size: the last step and time, the mean of
/// the other columns, and the minimum and maximum of loss and gradient norm. Values that are not
/// finite are null.
std::string report_series(const TrainingReport& report);

}  // namespace heed::inspect
