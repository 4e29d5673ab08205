#include "heed/train/tasks/preference_task.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/train/tasks/continuations.h"
#include "heed/train/tasks/example_lines.h"

namespace heed::train {
namespace {

size_t tokens_of_preference(const data::Preference& one) {
  return one.prompt.size() + std::max(one.chosen.size(), one.rejected.size());
}

}  // namespace

PreferenceTask::PreferenceTask(const TrainConfig& config, const std::filesystem::path& start,
                               Observer& observer)
    : Task(config.model),
      seed_(config.run.seed),
      named_(prepare_tokenizer(config, start, {}, model_, observer)) {
  auto examples = read_examples(
      config, "preference", observer,
      [&](const std::string& line, const std::string& where) { return read(line, where); },
      tokens_of_preference);
  fingerprint_ = examples.fingerprint;
  samples_ = first_of(examples.valid, config.validation.samples);
  const auto beta = static_cast<float>(config.preference.beta);
  train_ = std::make_unique<data::PreferenceDataset>(std::move(examples.train), beta);
  valid_ = std::make_unique<data::PreferenceDataset>(std::move(examples.valid), beta);
}

data::Preference PreferenceTask::read(const std::string& line, const std::string& where) const {
  const nlohmann::json json = parse_json(line, where);
  const auto tokens = [&](const char* key) {
    return named_.tokenizer.encode(get<std::string>(json, key, where), false);
  };
  const auto answer = [&](const char* key) {
    std::vector<int32_t> ids = tokens(key);
    if (model_.eos_id >= 0) ids.push_back(model_.eos_id);
    require(!ids.empty(), "{}: an answer has no tokens", where);
    return ids;
  };
  data::Preference one{
      .prompt = {start_token(model_)}, .chosen = answer("chosen"), .rejected = answer("rejected")};
  const std::vector<int32_t> prompt = tokens("prompt");
  one.prompt.insert(one.prompt.end(), prompt.begin(), prompt.end());
  return one;
}

void PreferenceTask::evaluate(const model::Transformer& model, Compute compute,
                              distribute::Group& group, ValidationRecord& record) const {
  std::vector<std::vector<int32_t>> prompts;
  for (const auto& [prompt, chosen, rejected] : samples_) {
    prompts.push_back(prompt);
    record.samples.push_back(
        {named_.tokenizer.decode(prompt), named_.tokenizer.decode(chosen), ""});
  }
  add_continuations(model, named_.tokenizer, compute, seed_, prompts, group, record);
}

}  // namespace heed::train
