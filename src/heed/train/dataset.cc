#include "heed/train/dataset.h"

#include <algorithm>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/data/pair_filter.h"

namespace heed::train {
namespace {

using Pairs = std::vector<data::SentencePair>;
using Say = std::function<void(const std::string&)>;

Pairs read_training_text(const DataConfig& data) {
  if (!data.tsv.empty()) {
    require(data.source.empty() && data.target.empty(),
            "data.tsv and data.source/data.target are both given, expected one of them");
    return data::read_tsv(data.tsv);
  }
  require(!data.source.empty() && !data.target.empty(),
          "no training text: give data.source and data.target, or data.tsv");
  return data::read_parallel(data.source, data.target);
}

/// Moves `count` pairs, chosen by the seed, out of `train`; of a small text at most a tenth.
Pairs hold_out(Pairs& train, int64_t count, uint64_t seed) {
  require(train.size() >= 2, "{} training pair, too few to set one aside for validation",
          train.size());
  count = std::clamp<int64_t>(static_cast<int64_t>(train.size()) / 10, 1, count);
  std::vector<size_t> order(train.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const CounterRandom random(seed, 0x686f6c64);  // "hold"
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return random.bits(a) < random.bits(b); });
  std::vector<bool> held(train.size());
  for (int64_t i = 0; i < count; ++i) held[order[static_cast<size_t>(i)]] = true;
  Pairs kept, valid;
  for (size_t i = 0; i < train.size(); ++i) (held[i] ? valid : kept).push_back(std::move(train[i]));
  train = std::move(kept);
  return valid;
}

Pairs read_validation_text(const TrainConfig& config, Pairs& train) {
  const DataConfig& data = config.data;
  if (data.valid_source.empty() && data.valid_target.empty())
    return hold_out(train, data.held_out, config.run.seed);
  require(!data.valid_source.empty() && !data.valid_target.empty(),
          "only one of data.valid_source and data.valid_target is given, expected both");
  return data::read_parallel(data.valid_source, data.valid_target);
}

text::TranslationTokenizer make_tokenizer(const TrainConfig& config, const Pairs& train,
                                          const std::filesystem::path& directory, const Say& say) {
  if (!directory.empty()) return text::TranslationTokenizer::load(directory);
  if (!config.vocabulary.model.empty())
    return text::TranslationTokenizer::shared(text::SentencePiece::load(config.vocabulary.model));
  using Options = text::SentencePiece::TrainOptions;
  std::vector<std::string> sentences;
  for (const auto& [source, target] : train) {
    sentences.push_back(source);
    sentences.push_back(target);
  }
  Options options;
  options.kind = config.vocabulary.kind == "bpe" ? Options::Kind::bpe : Options::Kind::unigram;
  options.vocab_size = static_cast<int>(config.vocabulary.size);
  text::SentencePiece pieces = text::SentencePiece::train(sentences, options);
  say(fmt::format("vocabulary: {} {} pieces, shared by both languages", pieces.vocab_size(),
                  config.vocabulary.kind));
  return text::TranslationTokenizer::shared(std::move(pieces));
}

std::vector<data::Example> tokenize(const text::TranslationTokenizer& tokenizer,
                                    const Pairs& pairs) {
  std::vector<data::Example> examples;
  for (const auto& [source, target] : pairs)
    examples.push_back({tokenizer.encode_source(source), tokenizer.encode_target(target)});
  return examples;
}

}  // namespace

Dataset prepare_dataset(const TrainConfig& config, const std::filesystem::path& tokenizer_directory,
                        const Say& say) {
  Pairs train = read_training_text(config.data);
  Pairs valid = read_validation_text(config, train);
  text::TranslationTokenizer tokenizer = make_tokenizer(config, train, tokenizer_directory, say);

  const data::FilterOptions filter{
      .max_tokens = std::min(config.data.max_tokens, config.model.max_positions),
      .max_ratio = config.data.max_ratio};
  std::vector<data::Example> examples = tokenize(tokenizer, train);
  const data::FilterReport report = data::filter_examples(examples, filter);
  say("training text: " + report.text());
  require(!examples.empty(), "no training pair is left after filtering: {}", report.text());

  // Validation keeps text and tokens side by side, so unusable pairs go from both.
  Pairs valid_text;
  std::vector<data::Example> valid_examples;
  for (data::SentencePair& pair : valid) {
    std::vector<data::Example> one = tokenize(tokenizer, {pair});
    data::filter_examples(one, {.max_tokens = filter.max_tokens, .max_ratio = 1e9});
    if (one.empty()) continue;
    valid_examples.push_back(std::move(one.front()));
    valid_text.push_back(std::move(pair));
  }
  require(!valid_text.empty(), "no validation pair is left after filtering");
  say(fmt::format("validation text: {} pairs", valid_text.size()));
  return {std::move(tokenizer), std::move(examples), std::move(valid_examples),
          std::move(valid_text)};
}

}  // namespace heed::train
