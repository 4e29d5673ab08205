#include "heed/train/metrics_log.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"

namespace heed {

// Where argument-dependent lookup finds it.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepRecord, step, epoch, seconds, loss, gradient_norm,
                                   learning_rate, tokens_per_second, skipped)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DirectionScores, languages, bleu, chrf)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ValidationRecord, step, epoch, seconds, train_loss, loss,
                                   perplexity, best)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepCommunication, seconds, hidden, bytes, slowest_rank,
                                   imbalance)

}  // namespace heed

namespace heed::train {
namespace {

constexpr const char *kCommunication = "communication", *kDirections = "directions",
                     *kMetrics = "metrics", *kBestBy = "best_by";

nlohmann::json json_of(const StepRecord& record) {
  nlohmann::json json = record;
  if (record.communication) json[kCommunication] = *record.communication;
  return json;
}

StepRecord step_of(const nlohmann::json& json) {
  auto record = json.get<StepRecord>();
  if (json.contains(kCommunication))
    record.communication = json.at(kCommunication).get<StepCommunication>();
  return record;
}

nlohmann::json json_of(const ValidationRecord& r, const SampleNames& names) {
  nlohmann::json json = r;
  if (r.bleu) json["bleu"] = *r.bleu;
  if (r.chrf) json["chrf"] = *r.chrf;
  if (!r.directions.empty()) json[kDirections] = r.directions;
  if (!r.metrics.empty()) json[kMetrics] = r.metrics;
  if (!r.best_by.empty()) json[kBestBy] = r.best_by;
  json["samples"] = nlohmann::json::array();
  for (const Sample& sample : r.samples)
    json["samples"].push_back({{names.input, sample.input},
                               {names.reference, sample.reference},
                               {names.output, sample.output}});
  return json;
}

ValidationRecord validation_of(const nlohmann::json& json, const SampleNames& names) {
  auto r = json.get<ValidationRecord>();
  if (json.contains("bleu")) r.bleu = json.at("bleu").get<double>();
  if (json.contains("chrf")) r.chrf = json.at("chrf").get<double>();
  if (json.contains(kDirections))
    r.directions = json.at(kDirections).get<std::vector<DirectionScores>>();
  if (json.contains(kMetrics)) r.metrics = json.at(kMetrics).get<std::map<std::string, double>>();
  if (json.contains(kBestBy)) r.best_by = json.at(kBestBy).get<std::string>();
  for (const nlohmann::json& sample : json.at("samples"))
    r.samples.push_back({sample.at(names.input).get<std::string>(),
                         sample.at(names.reference).get<std::string>(),
                         sample.at(names.output).get<std::string>()});
  return r;
}

std::string line_of(const char* kind, const nlohmann::json& record) {
  nlohmann::ordered_json line = {{"kind", kind}};
  line.update(record);
  // Early in training, a model's output may be invalid UTF-8.
  return dump_json(line, {.replace_invalid = true}) + "\n";
}

/// Adds the record of a line to the history. False if the line is cut off, or of a step after
/// `last_step`.
bool take_line(const std::string& line, int64_t last_step, const SampleNames& names,
               History& history) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object()) return false;
  try {
    if (json.at("step").get<int64_t>() > last_step) return false;
    if (json.at("kind") == "step")
      history.steps.push_back(step_of(json));
    else
      history.validations.push_back(validation_of(json, names));
  } catch (const nlohmann::json::exception&) {
    return false;
  }
  return true;
}

}  // namespace

MetricsLog::MetricsLog(const std::filesystem::path& path, int64_t last_step, SampleNames names,
                       bool writes)
    : path_(path), names_(std::move(names)), writes_(writes) {
  std::string kept;
  if (std::ifstream old(path); old && last_step > 0)
    for (std::string line; std::getline(old, line);)
      if (take_line(line, last_step, names_, history_)) kept += line + "\n";
  if (!writes_) return;
  write_file_atomically(path, kept);
  file_.open(path, std::ios::app);
  require(file_.is_open(), "{}: cannot be opened for writing", path.string());
}

void MetricsLog::add(const StepRecord& record) {
  history_.steps.push_back(record);
  write(line_of("step", json_of(record)));
}

void MetricsLog::add(const ValidationRecord& record) {
  history_.validations.push_back(record);
  write(line_of("validation", json_of(record, names_)));
}

void MetricsLog::sync() try {
  if (writes_) sync_file(path_);
} catch (const Error& error) {
  problem_ = error.what();
}

void MetricsLog::write(const std::string& line) {
  if (!writes_) return;
  file_ << line << std::flush;
  if (!file_.good())
    problem_ = fmt::format("{}: cannot be written: is the disk full?", path_.string());
}

}  // namespace heed::train
