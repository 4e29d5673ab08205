#include "heed/train/tasks/pairs_task.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/data/inference_batches.h"
#include "heed/data/pair_dataset.h"
#include "heed/data/stored_pairs.h"
#include "heed/distribute/agree.h"
#include "heed/distribute/all_gather_texts.h"
#include "heed/document/sentences/abbreviation_learner.h"
#include "heed/document/sentences/mark_learner.h"
#include "heed/document/sentences/sentence_settings.h"
#include "heed/generate/cached_decoder.h"
#include "heed/generate/search.h"
#include "heed/metrics.h"
#include "heed/train/tasks/pair_vocabulary.h"
#include "heed/train/tasks/stored_text.h"
#include "heed/train/tasks/validated_confidence.h"

namespace heed::train {
namespace {

/// Source tokens times beam width of a batch of translations.
constexpr int64_t kBatchTokens = 2048;
/// The most pairs from which a vocabulary and abbreviations are learned.
constexpr int64_t kSampledPairs = 500'000;

document::LearnedRules rules_of_sentences(const std::vector<data::SentencePair>& pairs) {
  document::AbbreviationLearner abbreviations;
  document::MarkLearner marks;
  for (const data::SentencePair& pair : pairs) {
    abbreviations.read(pair.source);
    marks.read(pair.source);
  }
  return {.abbreviations = abbreviations.abbreviations(),
          .ends_before_capital = marks.ends_before_capital(),
          .inside_before_small_letter = marks.inside_before_small_letter()};
}

/// What translate_document() is to know of the training: with the length and the abbreviations that
/// `start` knew, if there is one.
document::SentenceSettings sentence_settings(document::LearnedRules learned,
                                             int64_t usual_longest_source,
                                             const std::filesystem::path& start) {
  document::SentenceSettings settings{.max_source_tokens = usual_longest_source,
                                      .learned = std::move(learned)};
  if (start.empty()) return settings;
  const document::SentenceSettings before = document::read_sentence_settings(start);
  settings.max_source_tokens = std::max(settings.max_source_tokens, before.max_source_tokens);
  std::vector<std::string> both;
  std::ranges::set_union(settings.learned.abbreviations, before.learned.abbreviations,
                         std::back_inserter(both));
  settings.learned.abbreviations = std::move(both);
  return settings;
}

/// The most tokens of a sentence, with end of sequence.
int64_t longest_side(const TrainConfig& config) {
  return std::min(config.data.max_tokens, config.model.max_positions);
}

/// The reports of the corpora as JSON.
std::string report_of(const std::vector<data::Corpus>& corpora,
                      const std::vector<data::FilterReport>& reports) {
  nlohmann::ordered_json json;
  json["corpora"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < corpora.size(); ++i) {
    nlohmann::ordered_json one;
    for (const auto& [key, file] : {std::pair{"source", &corpora[i].source},
                                    {"target", &corpora[i].target},
                                    {"tsv", &corpora[i].tsv}})
      if (!file->empty()) one[key] = *file;
    one.update(reports[i].json());
    json["corpora"].push_back(std::move(one));
  }
  return dump_json(json, {.indent = 1}) + "\n";
}

std::vector<PairEncoder> encoders_of(const text::ModelTokenizer& tokenizer,
                                     const model::ModelConfig& model,
                                     const std::vector<data::Corpus>& corpora) {
  std::vector<PairEncoder> encoders;
  for (const data::Corpus& corpus : corpora) encoders.emplace_back(tokenizer, model, corpus);
  return encoders;
}

}  // namespace

PairsTask::PairsTask(const TrainConfig& config, const std::filesystem::path& start,
                     const std::filesystem::path& scratch, Observer& observer)
    : Task(config.model), validation_(config.validation) {
  const TrainingPairs pairs(config);
  fingerprint_.training = pairs.fingerprint();
  document::LearnedRules learned;
  {
    const std::vector<data::SentencePair> sample = pairs.sample(kSampledPairs);
    auto [tokenizer, files] = prepare_pair_tokenizer(config, sample, start, model_, observer);
    tokenizer_.emplace(std::move(tokenizer));
    files_ = std::move(files);
    if (translation_tokenizer()) learned = rules_of_sentences(sample);
  }
  const int64_t longest = store_training(config, pairs, scratch, observer);
  if (translation_tokenizer())
    files_.emplace_back(document::kSentencesFile,
                        document::text_of(sentence_settings(std::move(learned), longest, start)));
  read_validation(config, pairs.held_out());
  observer.log(fmt::format("validation text: {} pairs", valid_text_.size()));
}

/// Makes the examples for training. Returns the usual length of the longest sources.
int64_t PairsTask::store_training(const TrainConfig& config, const TrainingPairs& pairs,
                                  const std::filesystem::path& scratch, Observer& observer) {
  const std::vector<data::Corpus> corpora = training_corpora(config.data);
  std::vector<data::FilterReport> reports = pairs.reports();
  const TokenLimits limits{
      .lengths = {.max_tokens = longest_side(config), .max_ratio = config.data.max_ratio},
      .drop_least_aligned = config.data.drop_least_aligned};
  StoredText stored =
      store_text(pairs, encoders_of(*tokenizer_, model_, corpora), limits, scratch, reports);
  filter_report_ = report_of(corpora, reports);
  const auto all = data::FilterReport::total(reports);
  observer.log("training text: " + all.text());
  require(all.kept() > 0, "no training pair is left after filtering: {}", all.text());
  data::Mixture mixture = mixture_of(config.data, stored.sizes, config.run.seed);
  if (corpora.size() > 1)
    for (size_t i = 0; i < corpora.size(); ++i)
      observer.log(fmt::format("    {}: {} pairs, drawn {} times in an epoch",
                               corpora[i].source + corpora[i].tsv, stored.sizes[i],
                               mixture.draws()[i]));
  train_ = std::make_unique<data::StoredPairs>(std::move(stored.examples), std::move(mixture),
                                               model_.decoder_start_id);
  return stored.usual_longest_source;
}

/// Reads the pairs for validation, if none are held out.
void PairsTask::read_validation(const TrainConfig& config, std::vector<CorpusPair> held_out) {
  const bool own = !validation_corpora(config.data).empty();
  const std::vector<data::Corpus> corpora =
      own ? validation_corpora(config.data) : training_corpora(config.data);
  valid_encoders_ = encoders_of(*tokenizer_, model_, corpora);
  for (CorpusPair& pair : validation_pairs(config, std::move(held_out))) {
    if (own) data::add_pair(pair.text, fingerprint_.validation);
    data::Example example = valid_encoders_[pair.corpus](pair.text);
    if (data::length_problem(example, {.max_tokens = longest_side(config), .max_ratio = 1e9}))
      continue;
    valid_tokens_.push_back(std::move(example));
    valid_text_.push_back(std::move(pair));
  }
  require(!valid_text_.empty(), "no validation pair is left after filtering");
  valid_ = std::make_unique<data::PairDataset>(valid_tokens_, model_.decoder_start_id);
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
  const generate::SearchOptions options{.num_beams = static_cast<int>(validation_.num_beams)};
  const DType dtype = activation_dtype(compute);
  generate::SearchBatch batch{.rules = {.eos_ids = model.config().eos_ids()},
                              .memory_dtype = generate::default_cache_dtype(model, dtype)};
  for (const int64_t index : indices) {
    const auto i = static_cast<size_t>(index);
    batch.inputs.push_back(
        generate::translation_input(model.config(), options, valid_tokens_[i].source,
                                    valid_encoders_[valid_text_[i].corpus].prompt()));
  }
  const auto found = generate::search(model, dtype, batch, options);
  const text::TranslationTokenizer* translator = translation_tokenizer();
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto index = static_cast<size_t>(indices[i]);
    const Hypothesis& best = found[i].front().hypothesis;
    translations.texts[index] = tokenizer_->decode_target(best.tokens);
    if (translator)
      translations.confidences[index] = text_of(generate::confidence_example(
          *translator, translations.texts[index], best, valid_text_[index].text.target));
  }
}

/// The scores of each direction, if there are several.
std::vector<DirectionScores> PairsTask::scores_of_directions(
    const std::vector<std::string>& translations) const {
  std::vector<DirectionScores> scores;
  if (valid_encoders_.size() == 1) return scores;
  for (size_t corpus = 0; corpus < valid_encoders_.size(); ++corpus) {
    std::vector<std::string> own, references;
    for (size_t i = 0; i < translations.size(); ++i) {
      if (valid_text_[i].corpus != corpus) continue;
      own.push_back(translations[i]);
      references.push_back(valid_text_[i].text.target);
    }
    if (!own.empty())
      scores.push_back({valid_encoders_[corpus].direction(), corpus_bleu(own, references).score,
                        corpus_chrf(own, references).score});
  }
  return scores;
}

void PairsTask::evaluate(const model::Transformer& model, Compute compute, distribute::Group& group,
                         ValidationRecord& record) const {
  const size_t count = std::min(valid_text_.size(), static_cast<size_t>(validation_.sentences));
  const auto [translations, confidences] = translate(model, compute, count, group);
  if (translation_tokenizer()) evaluated_files_ = calibration_files(confidences);
  std::vector<std::string> references;
  for (size_t i = 0; i < count; ++i) references.push_back(valid_text_[i].text.target);
  record.bleu = corpus_bleu(translations, references).score;
  record.chrf = corpus_chrf(translations, references).score;
  record.directions = scores_of_directions(translations);
  for (size_t i = 0; i < std::min(count, static_cast<size_t>(validation_.samples)); ++i)
    record.samples.push_back({valid_text_[i].text.source, references[i], translations[i]});
}

}  // namespace heed::train
