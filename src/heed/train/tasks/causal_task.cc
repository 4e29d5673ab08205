#include <algorithm>

#include "heed/data/causal_dataset.h"
#include "heed/train/tasks/continuations.h"
#include "heed/train/tasks/tasks.h"
#include "heed/train/tasks/token_text.h"

namespace heed::train {
namespace {

constexpr size_t kPromptTokens = 16;  // of a sample, at most

/// The text of `tokens` after `prompt`, including a space between the two.
std::string continuation_text(const text::Tokenizer& tokenizer, std::span<const int32_t> prompt,
                              std::span<const int32_t> tokens) {
  std::vector<int32_t> all(prompt.begin(), prompt.end());
  all.insert(all.end(), tokens.begin(), tokens.end());
  const std::string whole = tokenizer.decode(all);
  return whole.substr(std::min(tokenizer.decode(prompt).size(), whole.size()));
}

/// Predicting the next token of documents, for decoder-only models. The end-of-sequence token
/// follows each document. The beginning-of-sequence token, or else end-of-sequence, precedes it.
class CausalTask : public Task {
 public:
  CausalTask(const TrainConfig& config, const std::filesystem::path& start, const RawText& text,
             Observer& observer)
      : Task(config.model),
        samples_(config.validation.samples),
        seed_(config.run.seed),
        vocabulary_(prepare_tokenizer(config, start, text.train, model_, observer)) {
    fingerprint_ = fingerprint_of(text);
    std::vector<int32_t> suffix;
    if (model_.eos_id >= 0) suffix.push_back(model_.eos_id);
    TokenText tokens =
        tokenize(text, vocabulary_.tokenizer, suffix, config.window_tokens(), config, observer);
    const int32_t first = start_token(model_);
    train_ =
        std::make_unique<data::CausalDataset>(tokens.documents, std::move(tokens.train), first);
    valid_ =
        std::make_unique<data::CausalDataset>(tokens.documents, std::move(tokens.valid), first);
  }

  std::vector<checkpoint::NamedFile> files() const override { return vocabulary_.files; }
  std::string piece(int32_t token) const override { return piece_of(vocabulary_.tokenizer, token); }
  SampleNames sample_names() const override { return {"prompt", "reference", "continuation"}; }
  /// Samples continuations of prompts taken from a few validation windows.
  void evaluate(const model::Transformer& model, Compute compute, distribute::Group& group,
                ValidationRecord& record) const override {
    const text::Tokenizer& tokenizer = vocabulary_.tokenizer;
    std::vector<std::vector<int32_t>> prompts;
    for (int64_t index = 0; index < std::min(samples_, valid().count()); ++index) {
      const data::Batch batch = valid().batch(std::span(&index, 1), 0);
      const std::span<const int32_t> input(batch.decoder_input), target(batch.target);
      const size_t length = std::clamp<size_t>(input.size() / 2, 1, kPromptTokens);
      const std::span<const int32_t> prompt = input.first(length);
      const std::span<const int32_t> rest =
          target.subspan(length - 1)
              .first(std::min(target.size() - length + 1, kContinuationTokens));
      prompts.emplace_back(prompt.begin(), prompt.end());
      record.samples.push_back(
          {tokenizer.decode(prompt), continuation_text(tokenizer, prompt, rest), ""});
    }
    add_continuations(model, tokenizer, compute, seed_, prompts, group, record);
  }

 private:
  int64_t samples_;
  uint64_t seed_;
  TokenizerWithFiles vocabulary_;
};

}  // namespace

std::unique_ptr<Task> make_causal_task(const TrainConfig& config,
                                       const std::filesystem::path& start, Observer& observer) {
  return std::make_unique<CausalTask>(config, start, read_text(config.data), observer);
}

}  // namespace heed::train
