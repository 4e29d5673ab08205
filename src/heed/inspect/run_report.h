#pragma once

#include "heed/inspect/training_report.h"
#include "heed/train/trainer.h"

namespace heed::inspect {

/// The report of a run as it stands: its history, and the last validation's samples with their
/// cross-attention.
TrainingReport report_of(const train::Trainer& trainer);

}  // namespace heed::inspect
