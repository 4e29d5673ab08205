#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/data/preference_dataset.h"
#include "heed/train/tasks/continuations.h"
#include "heed/train/tasks/example_lines.h"
#include "heed/train/tasks/tasks.h"
#include "heed/train/tasks/vocabulary.h"

namespace heed::train {
namespace {

size_t tokens_of_preference(const data::Preference& one) {
  return one.prompt.size() + std::max(one.chosen.size(), one.rejected.size());
}

/// Preferring one answer to another (batch_loss.cc), for adapters of decoder-only models. The
/// text is JSON lines with the strings "prompt", "chosen" and "rejected"; the end-of-sequence token
/// follows each answer.
class PreferenceTask : public Task {
 public:
  /// Throws Error, naming the line, on one that is not such an object. Examples longer than a
  /// window are left out.
  PreferenceTask(const TrainConfig& config, const std::filesystem::path& start, Observer& observer)
      : Task(config.model),
        seed_(config.run.seed),
        vocabulary_(prepare_tokenizer(config, start, {}, model_, observer)) {
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

  std::vector<checkpoint::NamedFile> files() const override { return vocabulary_.files; }
  std::string piece(int32_t token) const override { return piece_of(vocabulary_.tokenizer, token); }
  SampleNames sample_names() const override { return {"prompt", "chosen", "answer"}; }
  /// Samples answers to a few validation prompts.
  void evaluate(const model::Transformer& model, Compute compute, distribute::Group& group,
                ValidationRecord& record) const override {
    std::vector<std::vector<int32_t>> prompts;
    for (const auto& [prompt, chosen, rejected] : samples_) {
      prompts.push_back(prompt);
      record.samples.push_back(
          {vocabulary_.tokenizer.decode(prompt), vocabulary_.tokenizer.decode(chosen), ""});
    }
    add_continuations(model, vocabulary_.tokenizer, compute, seed_, prompts, group, record);
  }

 private:
  data::Preference read(const std::string& line, const std::string& where) const {
    const nlohmann::json json = parse_json(line, where);
    const auto tokens = [&](const char* key) {
      return vocabulary_.tokenizer.encode(get<std::string>(json, key, where), false);
    };
    const auto answer = [&](const char* key) {
      std::vector<int32_t> ids = tokens(key);
      if (model_.eos_id >= 0) ids.push_back(model_.eos_id);
      require(!ids.empty(), "{}: an answer has no tokens", where);
      return ids;
    };
    data::Preference one{.prompt = {start_token(model_)},
                         .chosen = answer("chosen"),
                         .rejected = answer("rejected")};
    const std::vector<int32_t> prompt = tokens("prompt");
    one.prompt.insert(one.prompt.end(), prompt.begin(), prompt.end());
    return one;
  }

  uint64_t seed_;
  TokenizerWithFiles vocabulary_;
  std::vector<data::Preference> samples_;
};

}  // namespace

std::unique_ptr<Task> make_preference_task(const TrainConfig& config,
                                           const std::filesystem::path& start, Observer& observer) {
  return std::make_unique<PreferenceTask>(config, start, observer);
}

}  // namespace heed::train
