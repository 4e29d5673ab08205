#include "heed/generate/text_classifier.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/data/batch.h"
#include "heed/data/translation_batches.h"
#include "heed/generate/input_error.h"

namespace heed::generate {
namespace {

constexpr int64_t kTextsPerTask = 32;  // tokenized by a thread at a time
/// Smallest number of tokens of a batch that one thread computes alone.
constexpr int64_t kMinClassifiedTokens = 128;

/// The most tokens that options and model allow; 0: no limit.
int64_t token_limit(const model::ModelConfig& config, const ClassifyOptions& options) {
  const int64_t context = config.positions == model::PositionKind::none ? 0 : config.max_positions;
  if (!options.max_seq_length) return context;
  require(*options.max_seq_length >= 1 && (context == 0 || *options.max_seq_length <= context),
          "max_seq_length is {}, expected 1 to {}: the model's context length",
          *options.max_seq_length, context);
  return *options.max_seq_length;
}

}  // namespace

void require_classifier(const model::Transformer& model, model::ClassifierConfig::Kind kind,
                        std::string_view purpose) {
  require(model.config().classifier.kind == kind,
          "{} needs a model for the classification of {}: its config.json names the class "
          "For{}Classification",
          purpose, kind == model::ClassifierConfig::Kind::token ? "tokens" : "texts",
          kind == model::ClassifierConfig::Kind::token ? "Token" : "Sequence");
}

TextClassifier::TextClassifier(const model::Transformer& model, text::Tokenizer tokenizer,
                               const ClassifyOptions& options)
    : model_(model),
      tokenizer_(std::move(tokenizer)),
      options_(options),
      max_tokens_(token_limit(model.config(), options)) {}

TextTokens TextClassifier::tokens(std::string_view text) const {
  TextTokens result = tokens_within(tokenizer_, text, max_tokens_);
  require(!result.ids.empty(), "no tokens");
  return result;
}

std::vector<std::vector<float>> TextClassifier::logits(std::span<const ClassifyInput> texts,
                                                       int64_t first_number) const {
  std::vector<text::TypedIds> read(texts.size());
  const auto read_one = [&](size_t i) {
    if (const auto* pair = std::get_if<TextPair>(&texts[i])) {
      read[i] = tokenizer_.encode_pair(pair->first, pair->second, max_tokens_);
    } else {
      read[i].ids = ids_within(tokenizer_, std::get<std::string>(texts[i]), max_tokens_);
      read[i].types.resize(read[i].ids.size());
    }
    require(!read[i].ids.empty(), "no tokens");
  };
  parallel_in_order(
      static_cast<int64_t>(texts.size()), kTextsPerTask, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          name_input("text", first_number + i, [&] { read_one(static_cast<size_t>(i)); });
      });
  return run(read);
}

std::vector<std::vector<float>> TextClassifier::token_logits(
    std::span<const TextTokens> texts) const {
  std::vector<text::TypedIds> read;
  for (const TextTokens& text : texts)
    read.push_back({text.ids, std::vector<int32_t>(text.ids.size())});
  return run(read);
}

std::vector<std::vector<float>> TextClassifier::run(std::span<const text::TypedIds> texts) const {
  std::vector<int64_t> lengths;
  for (const text::TypedIds& text : texts) lengths.push_back(std::ssize(text.ids));
  std::vector<std::vector<float>> results(texts.size());
  const bool of_tokens = model_.config().classifier.kind == model::ClassifierConfig::Kind::token;
  const auto run_batch = [&](std::span<const int64_t> members) {
    std::vector<int32_t> ids, types, offsets{0};
    for (const int64_t member : members) {
      const text::TypedIds& text = texts[static_cast<size_t>(member)];
      data::append_sequence(text.ids, ids, offsets);
      types.insert(types.end(), text.types.begin(), text.types.end());
    }
    Context context;
    const Tensor logits = model_.classify(context, {ids, offsets, types});
    for (size_t b = 0; b < members.size(); ++b) {
      const auto row = static_cast<int64_t>(b);
      const Tensor own =
          of_tokens ? logits.row_slice(offsets[b], offsets[b + 1]) : logits.row_slice(row, row + 1);
      const auto values = own.values<float>();
      require(std::ranges::all_of(values, [](float x) { return std::isfinite(x); }),
              "the model's output is not finite: its weights are damaged");
      results[static_cast<size_t>(members[b])].assign(values.begin(), values.end());
    }
  };
  const auto batches = data::plan_for_threads(
      lengths, {.max_per_batch = options_.batch_tokens, .min_per_thread = kMinClassifiedTokens},
      thread_count());
  parallel_in_order(static_cast<int64_t>(batches.size()), 1, [&](int64_t batch, int64_t) {
    run_batch(batches[static_cast<size_t>(batch)]);
  });
  return results;
}

}  // namespace heed::generate
