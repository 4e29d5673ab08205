#pragma once

#include <string>

#include "heed/train.h"

namespace heed::train {

using heed::StepCommunication;
using heed::StepRecord;
using heed::ValidationRecord;
using Sample = ValidationSample;

/// What the parts of a sample are called in metrics.jsonl and reports; depends on the task.
struct SampleNames {
  std::string input, reference, output;
};

}  // namespace heed::train
