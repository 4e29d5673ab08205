#include "heed/train/tasks/pairs_task.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/data/inference_batches.h"
#include "heed/data/pair_filter.h"
#include "heed/distribute/agree.h"
#include "heed/distribute/all_gather_texts.h"
#include "heed/document/sentences/abbreviation_learner.h"
#include "heed/document/sentences/sentence_settings.h"
#include "heed/generate/search.h"
#include "heed/metrics.h"
#include "heed/train/tasks/hold_out.h"
#include "heed/train/tasks/validated_confidence.h"

namespace heed::train {
namespace {

using Pairs = std::vector<data::SentencePair>;

/// Source tokens times beam width of a batch of translations.
constexpr int64_t kBatchTokens = 2048;

Pairs read_training_text(const DataConfig& data) {
  if (!data.tsv.empty()) return data::read_tsv(data.tsv);
  return data::read_parallel(data.source, data.target);
}

Pairs read_validation_text(const TrainConfig& config, Pairs& train) {
  const DataConfig& data = config.data;
  if (data.valid_source.empty()) return hold_out(train, data.held_out, config.run.seed, "pair");
  return data::read_parallel(data.valid_source, data.valid_target);
}

std::vector<std::string> sentences_of(const Pairs& pairs) {
  std::vector<std::string> sentences;
  for (const auto& [source, target] : pairs) {
    sentences.push_back(source);
    sentences.push_back(target);
  }
  return sentences;
}

text::TranslationTokenizer learn_translation_tokenizer(const TrainConfig& config,
                                                       const Pairs& train, Observer& observer) {
  if (!config.vocabulary.model.empty())
    return text::TranslationTokenizer::shared(text::SentencePiece::load(config.vocabulary.model));
  using Options = text::SentencePiece::TrainOptions;
  Options options;
  options.kind = config.vocabulary.kind == "bpe" ? Options::Kind::bpe : Options::Kind::unigram;
  options.vocab_size = static_cast<int>(config.vocabulary.size);
  text::SentencePiece pieces = text::SentencePiece::train(sentences_of(train), options);
  observer.log(fmt::format("vocabulary: {} {} pieces, shared by both languages",
                           pieces.vocab_size(), config.vocabulary.kind));
  return text::TranslationTokenizer::shared(std::move(pieces));
}

/// The id of a piece; -1 if there is none.
int32_t id_of(const text::TranslationTokenizer& tokenizer, std::string_view piece) {
  for (int32_t token = 0; token < tokenizer.vocab_size(); ++token)
    if (tokenizer.piece(token) == piece) return token;
  return -1;
}

/// Sets the special tokens of `model` to those of an existing SentencePiece model. Decoders start
/// with <pad>, as Marian's do, or else with <s> or </s>.
void take_special_pieces(const text::TranslationTokenizer& tokenizer, model::ModelConfig& model) {
  model.eos_id = id_of(tokenizer, "</s>");
  model.pad_id = model.eos_id;
  for (const char* piece : {"<s>", "<pad>"})
    if (const int32_t token = id_of(tokenizer, piece); token >= 0) model.pad_id = token;
  model.decoder_start_id = model.pad_id;
}

using Files = std::vector<checkpoint::NamedFile>;

/// The tokenizer and the files that describe it.
std::pair<text::ModelTokenizer, Files> make_tokenizer(const TrainConfig& config, const Pairs& train,
                                                      const std::filesystem::path& start,
                                                      model::ModelConfig& model,
                                                      Observer& observer) {
  const bool marian = !start.empty() && text::TranslationTokenizer::exists(start);
  require(start.empty() || marian || !text::TranslationTokenizer::is_multilingual(start),
          "{} is multilingual, and heed does not train models that read their languages' tokens",
          start.string());
  if (config.run.task == TaskKind::text_to_text && !marian) {
    TokenizerWithFiles one = prepare_tokenizer(config, start, sentences_of(train), model, observer);
    return {text::ModelTokenizer(std::move(one.tokenizer)), std::move(one.files)};
  }
  auto two = start.empty() ? learn_translation_tokenizer(config, train, observer)
                           : text::TranslationTokenizer::load(start);
  if (start.empty())
    take_new_vocabulary(two.vocab_size(), config.run.task, model);
  else
    take_vocabulary(start, model);
  if (start.empty() && !config.vocabulary.model.empty()) take_special_pieces(two, model);
  Files files = two.files();
  return {text::ModelTokenizer(std::move(two)), std::move(files)};
}

/// The length that one in a thousand sources exceeds, in tokens.
int64_t usual_longest(const std::vector<data::Example>& examples) {
  std::vector<int64_t> lengths;
  for (const data::Example& example : examples) lengths.push_back(std::ssize(example.source));
  const auto exceeding = static_cast<std::ptrdiff_t>(lengths.size() / 1000);
  const auto place = lengths.begin() + exceeding;
  std::ranges::nth_element(lengths, place, std::greater());
  return *place;
}

/// What translate_document() is to know of the training: with what `start` knew, if there is one.
document::SentenceSettings sentence_settings(const Pairs& train,
                                             const std::vector<data::Example>& examples,
                                             const std::filesystem::path& start) {
  document::SentenceSettings settings;
  document::AbbreviationLearner learner;
  for (const data::SentencePair& pair : train) learner.read(pair.source);
  settings.abbreviations = learner.abbreviations();
  settings.max_source_tokens = usual_longest(examples);
  if (start.empty()) return settings;
  const document::SentenceSettings before = document::read_sentence_settings(start);
  settings.max_source_tokens = std::max(settings.max_source_tokens, before.max_source_tokens);
  std::vector<std::string> both;
  std::ranges::set_union(settings.abbreviations, before.abbreviations, std::back_inserter(both));
  settings.abbreviations = std::move(both);
  return settings;
}

}  // namespace

PairsTask::PairsTask(const TrainConfig& config, const std::filesystem::path& start,
                     Observer& observer)
    : Task(config.model), validation_(config.validation) {
  Pairs train = read_training_text(config.data);
  fingerprint_.training = data::fingerprint_of(train);
  if (!config.data.alignments.empty()) alignments_ = WordAlignments(config.data.alignments, train);
  alignments_.add_to(fingerprint_.training);
  Pairs valid = read_validation_text(config, train);
  if (!config.data.valid_source.empty()) fingerprint_.validation = data::fingerprint_of(valid);
  auto [tokenizer, files] = make_tokenizer(config, train, start, model_, observer);
  tokenizer_.emplace(std::move(tokenizer));
  files_ = std::move(files);

  const data::FilterOptions filter{
      .max_tokens = std::min(config.data.max_tokens, config.model.max_positions),
      .max_ratio = config.data.max_ratio};
  std::vector<data::Example> examples;
  for (const data::SentencePair& pair : train) examples.push_back(tokenize(pair));
  const data::FilterReport report = data::filter_examples(examples, filter);
  observer.log("training text: " + report.text());
  require(!examples.empty(), "no training pair is left after filtering: {}", report.text());

  if (tokenizer_->translation_tokenizer())
    files_.emplace_back(document::kSentencesFile,
                        document::text_of(sentence_settings(train, examples, start)));

  // Texts and tokens of validation pairs have the same indices, so pairs are filtered one by one.
  for (data::SentencePair& pair : valid) {
    std::vector<data::Example> one{tokenize(pair)};
    data::filter_examples(one, {.max_tokens = filter.max_tokens, .max_ratio = 1e9});
    if (one.empty()) continue;
    valid_tokens_.push_back(std::move(one.front()));
    valid_text_.push_back(std::move(pair));
  }
  require(!valid_text_.empty(), "no validation pair is left after filtering");
  observer.log(fmt::format("validation text: {} pairs", valid_text_.size()));
  train_ = std::make_unique<data::PairDataset>(std::move(examples), model_.decoder_start_id);
  valid_ = std::make_unique<data::PairDataset>(valid_tokens_, model_.decoder_start_id);
}

data::Example PairsTask::tokenize(const data::SentencePair& pair) const {
  data::Example tokens{tokenizer_->encode_source(pair.source),
                       tokenizer_->encode_target(pair.target)};
  if (const text::TranslationTokenizer* const two = translation_tokenizer())
    tokens.links = alignments_.links_of(pair, tokens, *two);
  return tokens;
}

const text::TranslationTokenizer* PairsTask::translation_tokenizer() const {
  return tokenizer_->translation_tokenizer();
}

/// The first `count` validation sources, translated: each rank translates every size-th batch.
PairsTask::Translations PairsTask::translate(const model::Transformer& model, Compute compute,
                                             size_t count, distribute::Group& group) const {
  std::vector<int64_t> lengths;
  for (size_t i = 0; i < count; ++i)
    lengths.push_back(static_cast<int64_t>(valid_tokens_[i].source.size()));
  const int64_t budget = std::max<int64_t>(kBatchTokens / validation_.num_beams, 1);
  const auto batches = data::plan_by_tokens(lengths, budget);
  std::vector<int> owners(count);
  for (size_t batch = 0; batch < batches.size(); ++batch)
    for (const int64_t index : batches[batch])
      owners[static_cast<size_t>(index)] =
          static_cast<int>(batch % static_cast<size_t>(group.size()));
  Translations translations = distribute::propagate_errors(group, [&] {
    Translations own{.texts = std::vector<std::string>(count),
                     .confidences = std::vector<std::string>(count)};
    for (const std::vector<int64_t>& indices : batches)
      if (owners[static_cast<size_t>(indices.front())] == group.rank())
        translate(model, compute, indices, own);
    return own;
  });
  distribute::all_gather_texts(group, owners, translations.texts);
  distribute::all_gather_texts(group, owners, translations.confidences);
  return translations;
}

/// Translates the sources of a batch.
void PairsTask::translate(const model::Transformer& model, Compute compute,
                          const std::vector<int64_t>& indices, Translations& translations) const {
  std::vector<std::vector<int32_t>> sources;
  for (const int64_t index : indices)
    sources.push_back(valid_tokens_[static_cast<size_t>(index)].source);
  const auto found = generate::search(model, activation_dtype(compute), std::move(sources),
                                      {.num_beams = static_cast<int>(validation_.num_beams)});
  const text::TranslationTokenizer* translator = translation_tokenizer();
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto index = static_cast<size_t>(indices[i]);
    const Hypothesis& best = found[i].front();
    translations.texts[index] = tokenizer_->decode_target(best.tokens);
    if (translator)
      translations.confidences[index] = text_of(generate::confidence_example(
          *translator, translations.texts[index], best, valid_text_[index].target));
  }
}

void PairsTask::evaluate(const model::Transformer& model, Compute compute, distribute::Group& group,
                         ValidationRecord& record) const {
  const size_t count = std::min(valid_text_.size(), static_cast<size_t>(validation_.sentences));
  const auto [translations, confidences] = translate(model, compute, count, group);
  if (translation_tokenizer()) evaluated_files_ = calibration_files(confidences);
  std::vector<std::string> references;
  for (size_t i = 0; i < count; ++i) references.push_back(valid_text_[i].target);
  record.bleu = corpus_bleu(translations, references).score;
  record.chrf = corpus_chrf(translations, references).score;
  for (size_t i = 0; i < std::min(count, static_cast<size_t>(validation_.samples)); ++i)
    record.samples.push_back({valid_text_[i].source, references[i], translations[i]});
}

}  // namespace heed::train
