#include <algorithm>

#include "heed/base/error.h"
#include "heed/data/masked_dataset.h"
#include "heed/ops/rows.h"
#include "heed/train/tasks/tasks.h"
#include "heed/train/tasks/token_text.h"

namespace heed::train {
namespace {

/// Makes the masks of validation differ from those of training.
constexpr uint64_t kValidationSeed = 0x76616c6964;  // "valid"

/// Sets prefix and suffix to the special tokens that the tokenizer puts around a text.
void set_frame(const text::Tokenizer& tokenizer, data::Masking& masking) {
  const std::vector<int32_t> bare = tokenizer.encode("a", false), framed = tokenizer.encode("a");
  const auto text = std::search(framed.begin(), framed.end(), bare.begin(), bare.end());
  masking.prefix.assign(framed.begin(), text);
  if (text != framed.end())
    masking.suffix.assign(text + static_cast<int64_t>(bare.size()), framed.end());
}

data::Masking masking_of(const text::Tokenizer& tokenizer, int64_t vocab_size, uint64_t seed) {
  data::Masking masking;
  const std::optional<int32_t> mask = tokenizer.special_tokens().mask;
  require(mask.has_value(), "the tokenizer has no mask token, which the task masked-lm needs");
  masking.mask_id = *mask;
  set_frame(tokenizer, masking);
  // A tokenizer may have more pieces than the model; those are never masked or put in.
  const int64_t pieces = tokenizer.vocab_size();
  masking.special.assign(static_cast<size_t>(std::max(pieces, vocab_size)), true);
  for (int64_t token = 0; token < std::min(pieces, vocab_size); ++token)
    masking.special[static_cast<size_t>(token)] =
        tokenizer.is_special(static_cast<int32_t>(token)) ||
        piece_of(tokenizer, static_cast<int32_t>(token)).empty();
  masking.seed = seed;
  return masking;
}

/// Predicting masked tokens of documents, for encoder-only models. Each epoch masks other tokens;
/// validation always masks the same.
class MaskedTask : public Task {
 public:
  MaskedTask(const TrainConfig& config, const std::filesystem::path& start, const RawText& text,
             Observer& observer)
      : Task(config.model),
        samples_(config.validation.samples),
        vocabulary_(prepare_tokenizer(config, start, text.train, model_, observer)) {
    fingerprint_ = fingerprint_of(text);
    data::Masking masking = masking_of(vocabulary_.tokenizer, model_.vocab_size, config.run.seed);
    const auto frame = static_cast<int64_t>(masking.prefix.size() + masking.suffix.size());
    TokenText tokens =
        tokenize(text, vocabulary_.tokenizer, {}, config.window_tokens() - frame, config, observer);
    train_ =
        std::make_unique<data::MaskedDataset>(tokens.documents, std::move(tokens.train), masking);
    masking.seed ^= kValidationSeed;
    valid_ =
        std::make_unique<data::MaskedDataset>(tokens.documents, std::move(tokens.valid), masking);
  }

  std::vector<checkpoint::NamedFile> files() const override { return vocabulary_.files; }
  std::string piece(int32_t token) const override { return piece_of(vocabulary_.tokenizer, token); }
  SampleNames sample_names() const override { return {"masked", "reference", "filled"}; }
  /// Predicts the masked tokens of a few validation windows.
  void evaluate(const model::Transformer& model, Compute compute, distribute::Group&,
                ValidationRecord& record) const override {
    const text::Tokenizer& shown = vocabulary_.tokenizer;
    const auto count = std::min(samples_, valid().count());
    for (int64_t index = 0; index < count; ++index) {
      data::Batch batch = valid().batch(std::span(&index, 1), 0);
      Context context{.dtype = activation_dtype(compute)};
      const Tensor states = model.encode(context, {batch.source, batch.source_offsets}).states;
      const Tensor logits =
          model.logits(context, ops::gather_rows(context, states, batch.rows));  // [M, V]
      std::vector<int32_t> true_tokens = batch.source, filled = batch.source;
      for (size_t i = 0; i < batch.rows.size(); ++i) {
        const auto row = static_cast<size_t>(batch.rows[i]);
        const float* scores = logits.data<float>() + static_cast<int64_t>(i) * logits.cols();
        true_tokens[row] = batch.target[i];
        filled[row] =
            static_cast<int32_t>(std::max_element(scores, scores + logits.cols()) - scores);
        // Samples show a mask for every predicted token, even if it was kept or replaced in the
        // input.
        batch.source[row] = *shown.special_tokens().mask;
      }
      record.samples.push_back(
          {shown.decode(batch.source, false), shown.decode(true_tokens), shown.decode(filled)});
    }
  }

 private:
  int64_t samples_;
  TokenizerWithFiles vocabulary_;
};

}  // namespace

std::unique_ptr<Task> make_masked_task(const TrainConfig& config,
                                       const std::filesystem::path& start, Observer& observer) {
  return std::make_unique<MaskedTask>(config, start, read_text(config.data), observer);
}

}  // namespace heed::train
