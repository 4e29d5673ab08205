#pragma once

#include <cstdint>
#include <string>

#include "heed/train.h"

namespace heed::train {

class Trainer;

using heed::StepCommunication;
using heed::StepRecord;
using heed::ValidationRecord;
using Sample = ValidationSample;

/// The names of the parts of a sample in metrics.jsonl and reports, which depend on the task.
struct SampleNames {
  std::string input, reference, output;
};

/// Is told what happens in a run, on the thread that trains. The base class ignores it.
class Observer {
 public:
  virtual ~Observer() = default;

  /// A line about the run: what is read, learned, trained or saved, and warnings.
  virtual void log(const std::string& /*line*/) {}
  /// After a step. `planned_steps` is 0 if not known yet.
  virtual void step(const StepRecord& /*record*/, int64_t /*planned_steps*/,
                    double /*seconds_left*/) {}
  /// After a validation, once its checkpoint is saved. An exception becomes a warning: a report
  /// that cannot be written does not end the run.
  virtual void validation(const Trainer& /*trainer*/) {}
};

}  // namespace heed::train
