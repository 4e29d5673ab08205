#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "heed/distill.h"

namespace heed::engine {

/// OUT/distill.json: the options of a distillation, the parts of the work that are done, and the
/// table. Written after each part.
class DistillState {
 public:
  /// Begins or, with `resume`, continues. Throws Error on other options than those of the file, and
  /// when there is none.
  DistillState(const DistillOptions& options, const std::string& teacher);

  bool done(const std::string& part) const;
  void set_done(const std::string& part);

  const std::vector<DistillStage>& stages() const { return stages_; }
  bool has_stage(const std::string& name) const;
  void add(const DistillStage& stage);

  int64_t pairs() const { return pairs_; }
  void set_pairs(int64_t pairs) { pairs_ = pairs; }

 private:
  void read(const std::string& options);
  void write() const;

  std::filesystem::path file_;
  std::string options_;  // JSON
  std::vector<std::string> done_;
  std::vector<DistillStage> stages_;
  int64_t pairs_ = 0;
};

}  // namespace heed::engine
