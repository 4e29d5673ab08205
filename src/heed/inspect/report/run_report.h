#pragma once

#include "heed/inspect/report/training_report.h"
#include "heed/train/trainer.h"

namespace heed::inspect {

/// The report of a run so far: its history, and the samples of the last validation with their
/// cross-attention.
TrainingReport report_of(const train::Trainer& trainer);

}  // namespace heed::inspect
