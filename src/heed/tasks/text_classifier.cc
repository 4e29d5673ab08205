#include "heed/tasks/text_classifier.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/data/batch.h"
#include "heed/data/inference_batches.h"
#include "heed/ops/elementwise.h"

namespace heed::tasks {
namespace {

/// Smallest number of tokens of a batch that one thread computes alone.
constexpr int64_t kMinClassifiedTokens = 128;

/// The limit that the options set, or else the model's files.
TokenLimit token_limit(const model::ModelConfig& config, const TextSettings& settings,
                       const ClassifyOptions& options) {
  if (!options.max_seq_length) return settings.limit;
  const int64_t context = context_limit(config);
  require_input(
      *options.max_seq_length >= 1 && (context == 0 || *options.max_seq_length <= context),
      "max_seq_length is {}, expected 1 to {}: the model's context length", *options.max_seq_length,
      context);
  return {*options.max_seq_length, settings.limit.truncate_left};
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
                               const TextSettings& settings, const ClassifyOptions& options,
                               DType dtype)
    : model_(model),
      tokenizer_(std::move(tokenizer)),
      options_(options),
      dtype_(dtype),
      limit_(token_limit(model.config(), settings, options)),
      lower_case_(settings.lower_case) {}

TextTokens TextClassifier::tokens(std::string_view text) const {
  TextTokens result = tokens_within(tokenizer_, text, limit_);
  require_input(!result.ids.empty(), "no tokens");
  return result;
}

std::string TextClassifier::cased(const std::string& text) const {
  return lower_case_ ? lower_cased(text) : text;
}

int64_t TextClassifier::count_tokens(const ClassifyInput& text) const {
  if (const auto* pair = std::get_if<TextPair>(&text))
    return std::ssize(tokenizer_.encode_pair(cased(pair->first), cased(pair->second)).ids);
  return std::ssize(tokenizer_.encode(cased(std::get<std::string>(text))));
}

text::TypedIds TextClassifier::read(const ClassifyInput& text) const {
  text::TypedIds result;
  if (const auto* pair = std::get_if<TextPair>(&text)) {
    const std::string first = cased(pair->first), second = cased(pair->second);
    if (limit_.truncate_left && limit_.most > 0)
      require_input(
          std::ssize(tokenizer_.encode_pair(first, second).ids) <= limit_.most,
          "the pair has more than {} tokens, and heed does not truncate pairs on the left, as "
          "truncation_side of the tokenizer asks for",
          limit_.most);
    result = tokenizer_.encode_pair(first, second, limit_.most);
  } else {
    result.ids = ids_within(tokenizer_, cased(std::get<std::string>(text)), limit_);
    result.types.resize(result.ids.size());
  }
  require_input(!result.ids.empty(), "no tokens");
  return result;
}

std::vector<std::vector<float>> TextClassifier::logits(std::span<const ClassifyInput> texts,
                                                       int64_t first_number) const {
  std::vector<text::TypedIds> ids(texts.size());
  data::read_inputs("text", texts.size(), first_number, [&](size_t i) { ids[i] = read(texts[i]); });
  return run(ids);
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
    Context context{.dtype = dtype_};
    const Tensor logits =
        ops::to_f32(context, model_.classify(context, {ids, offsets, types}).to(nullptr));
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
  const bool on_device = model_.device() != nullptr;
  data::run_batches(lengths,
                    {.max_per_batch = data::tokens_per_batch(options_.batch_tokens, on_device),
                     .min_per_thread = kMinClassifiedTokens,
                     .on_device = on_device},
                    run_batch);
  return results;
}

}  // namespace heed::tasks
