#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/distill.h"
#include "heed/load_options.h"

namespace heed::engine {

/// Text that models are measured on.
class MeasuredText {
 public:
  /// Throws Error as read_parallel() does.
  MeasuredText(const std::filesystem::path& source, const std::filesystem::path& target);

  /// Translates the text with the model and these options of loading.
  DistillStage measure(const std::string& name, const std::filesystem::path& model,
                       const LoadOptions& load) const;

 private:
  std::vector<std::string> sources_, references_;
  int64_t words_ = 0;  // of the sources
};

}  // namespace heed::engine
