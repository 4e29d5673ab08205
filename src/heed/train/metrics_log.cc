#include "heed/train/metrics_log.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"

namespace heed::train {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepRecord, step, epoch, seconds, loss, gradient_norm,
                                   learning_rate, tokens_per_second, share_of_peak, skipped)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SampleTranslation, source, reference, translation)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ValidationRecord, step, epoch, seconds, train_loss, loss,
                                   perplexity, bleu, chrf, best, samples)

namespace {

template <typename Record>
std::string line_of(const char* kind, const Record& record) {
  nlohmann::ordered_json line = {{"kind", kind}};
  line.update(nlohmann::json(record));
  // Translations of a young model may hold broken UTF-8.
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// Adds what a line says to the history; false when it is cut or of a step that is to be taken
/// again.
bool take_line(const std::string& line, int64_t last_step, History& history) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object()) return false;
  try {
    if (json.at("step").get<int64_t>() > last_step) return false;
    if (json.at("kind") == "step")
      history.steps.push_back(json.get<StepRecord>());
    else
      history.validations.push_back(json.get<ValidationRecord>());
  } catch (const nlohmann::json::exception&) {
    return false;
  }
  return true;
}

}  // namespace

MetricsLog::MetricsLog(const std::filesystem::path& path, int64_t last_step) : path_(path) {
  std::string kept;
  if (std::ifstream old(path); old && last_step > 0)
    for (std::string line; std::getline(old, line);)
      if (take_line(line, last_step, history_)) kept += line + "\n";
  write_file_atomically(path, kept);
  file_.open(path, std::ios::app);
  require(file_.is_open(), "{} cannot be opened for writing", path.string());
}

void MetricsLog::add(const StepRecord& record) {
  history_.steps.push_back(record);
  write(line_of("step", record));
}

void MetricsLog::add(const ValidationRecord& record) {
  history_.validations.push_back(record);
  write(line_of("validation", record));
}

void MetricsLog::write(const std::string& line) {
  file_ << line << std::flush;
  require(file_.good(), "{} cannot be written: is the disk full?", path_.string());
}

}  // namespace heed::train
