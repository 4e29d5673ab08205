#include "heed/train/tasks/preference_task.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/train/tasks/continuations.h"
#include "heed/train/tasks/hold_out.h"

namespace heed::train {
namespace {

std::vector<std::string> lines_of(const std::string& file) {
  return file.empty() ? std::vector<std::string>()
                      : data::read_documents(file, data::DocumentEnd::line);
}

size_t tokens_of(const data::Preference& one) {
  return one.prompt.size() + std::max(one.chosen.size(), one.rejected.size());
}

}  // namespace

PreferenceTask::PreferenceTask(const TrainConfig& config, const std::filesystem::path& start,
                               Observer& observer)
    : Task(config.model),
      seed_(config.run.seed),
      named_(prepare_tokenizer(config, start, {}, model_, observer)) {
  const std::vector<std::string> training = lines_of(config.data.text),
                                 validation = lines_of(config.data.valid_text);
  fingerprint_ = {data::fingerprint_of(training), data::fingerprint_of(validation)};
  const int64_t longest = config.window_tokens();
  auto train = encode(training, config.data.text, longest, observer);
  auto valid = validation.empty()
                   ? hold_out(train, config.data.held_out, config.run.seed, "preference")
                   : encode(validation, config.data.valid_text, longest, observer);
  require(!train.empty() && !valid.empty(), "{}: no preference fits into {} tokens",
          (train.empty() ? config.data.text : config.data.valid_text), longest);
  observer.log(
      fmt::format("{} preferences for training, {} for validation", train.size(), valid.size()));
  const auto samples = std::min<int64_t>(config.validation.samples, std::ssize(valid));
  samples_.assign(valid.begin(), valid.begin() + samples);
  const auto beta = static_cast<float>(config.preference.beta);
  train_ = std::make_unique<data::PreferenceDataset>(std::move(train), beta);
  valid_ = std::make_unique<data::PreferenceDataset>(std::move(valid), beta);
}

std::vector<data::Preference> PreferenceTask::encode(const std::vector<std::string>& lines,
                                                     const std::string& file, int64_t longest,
                                                     Observer& observer) const {
  std::vector<data::Preference> examples;
  int64_t number = 0, dropped = 0;
  const auto answer = [&](const std::string& text) {
    std::vector<int32_t> tokens = named_.tokenizer.encode(text, false);
    if (model_.eos_id >= 0) tokens.push_back(model_.eos_id);
    return tokens;
  };
  for (const std::string& line : lines) {
    const std::string where = fmt::format("{}, line {}", file, ++number);
    const nlohmann::json json = parse_json(line, where);
    data::Preference one{.prompt = {start_token(model_)},
                         .chosen = answer(get<std::string>(json, "chosen", where)),
                         .rejected = answer(get<std::string>(json, "rejected", where))};
    const auto prompt = named_.tokenizer.encode(get<std::string>(json, "prompt", where), false);
    one.prompt.insert(one.prompt.end(), prompt.begin(), prompt.end());
    require(!one.chosen.empty() && !one.rejected.empty(), "{}: an answer has no tokens", where);
    if (static_cast<int64_t>(tokens_of(one)) <= longest)
      examples.push_back(std::move(one));
    else
      ++dropped;
  }
  if (dropped > 0)
    observer.log(fmt::format("{}: {} of {} preferences have more than {} tokens and are left out",
                             file, dropped, number, longest));
  return examples;
}

void PreferenceTask::evaluate(const model::Transformer& model, Compute compute,
                              ValidationRecord& record) const {
  std::vector<std::vector<int32_t>> prompts;
  for (const auto& [prompt, chosen, rejected] : samples_) {
    prompts.push_back(prompt);
    record.samples.push_back(
        {named_.tokenizer.decode(prompt), named_.tokenizer.decode(chosen), ""});
  }
  add_continuations(model, named_.tokenizer, compute, seed_, prompts, record);
}

}  // namespace heed::train
