#include <algorithm>
#include <map>

#include "heed/base/error.h"
#include "heed/data/batch_plan.h"
#include "heed/distribute/agree.h"
#include "heed/model/families/head_change.h"
#include "heed/ops/elementwise.h"
#include "heed/train/tasks/hold_out.h"
#include "heed/train/tasks/labels/label_list.h"
#include "heed/train/tasks/labels/label_scores.h"
#include "heed/train/tasks/labels/labelled_texts.h"
#include "heed/train/tasks/tasks.h"
#include "heed/train/tasks/vocabulary.h"

namespace heed::train {
namespace {

using model::ClassifierConfig;

/// Training lines and validation lines.
struct SplitLines {
  std::vector<LabelledLine> train, valid;
  DataFingerprint fingerprint;  // before lines are held out
};

/// The number of each line's query: lines with the same first text have the same one.
std::vector<int64_t> queries_of(const std::vector<LabelledLine>& lines) {
  std::map<std::string_view, int64_t> numbers;
  std::vector<int64_t> queries;
  for (const LabelledLine& line : lines)
    queries.push_back(numbers.try_emplace(line.text, std::ssize(numbers)).first->second);
  return queries;
}

/// Moves lines out of the training text: of rerank, all lines of some queries.
std::vector<LabelledLine> hold_out_lines(const TrainConfig& config,
                                         std::vector<LabelledLine>& train) {
  if (config.run.task != TaskKind::rerank)
    return hold_out(train, config.data.held_out, config.run.seed, "text");
  const std::vector<int64_t> queries = queries_of(train);
  const int64_t count = std::ranges::max(queries) + 1;
  std::vector<bool> held(static_cast<size_t>(count));
  const int64_t wanted = std::max<int64_t>(1, config.data.held_out * count / std::ssize(train));
  for (const int64_t query : held_out_places(count, wanted, config.run.seed, "querie"))
    held[static_cast<size_t>(query)] = true;
  SplitLines split;
  for (size_t i = 0; i < train.size(); ++i)
    (held[static_cast<size_t>(queries[i])] ? split.valid : split.train)
        .push_back(std::move(train[i]));
  train = std::move(split.train);
  return std::move(split.valid);
}

SplitLines read_split(const TrainConfig& config) {
  LabelledLines train = read_labelled_lines(config.data.text, config), valid;
  const bool held_out = config.data.valid_text.empty();
  if (!held_out) valid = read_labelled_lines(config.data.valid_text, config);
  SplitLines split{
      std::move(train.lines), std::move(valid.lines), {train.fingerprint, valid.fingerprint}};
  if (held_out) split.valid = hold_out_lines(config, split.train);
  return split;
}

data::LabelLoss loss_of(const TrainConfig& config) {
  switch (config.run.task) {
    case TaskKind::rerank:
      return config.rerank.loss == RerankLoss::binary_cross_entropy
                 ? data::LabelLoss::binary_cross_entropy
             : config.rerank.loss == RerankLoss::squared_error ? data::LabelLoss::squared_error
                                                               : data::LabelLoss::margin_mse;
    case TaskKind::score:
      return data::LabelLoss::squared_error;
    default:
      return config.classify.multi_label ? data::LabelLoss::binary_cross_entropy
                                         : data::LabelLoss::cross_entropy;
  }
}

model::Labels labels_of(const TrainConfig& config, std::vector<std::string> names) {
  using enum ClassifierConfig::Problem;
  const data::LabelLoss loss = loss_of(config);
  const bool number = loss == data::LabelLoss::squared_error || loss == data::LabelLoss::margin_mse;
  const TaskKind task = config.run.task;
  model::Labels labels{.names = std::move(names), .sigmoid_score = !number};
  labels.kind =
      task == TaskKind::tag ? ClassifierConfig::Kind::token : ClassifierConfig::Kind::sequence;
  if (number) labels.problem = regression;
  if (task == TaskKind::classify)
    labels.problem = config.classify.multi_label ? multi_label : single_label;
  return labels;
}

std::vector<std::string> texts_of(const std::vector<LabelledLine>& lines) {
  std::vector<std::string> texts;
  for (const LabelledLine& line : lines) {
    texts.push_back(line.text);
    if (line.pair) texts.push_back(*line.pair);
    texts.insert(texts.end(), line.negatives.begin(), line.negatives.end());
  }
  return texts;
}

/// The rows of logits of a text.
size_t rows_in(const data::LabelledText& text) {
  return std::max<size_t>(1, std::max(text.rows.size(), text.ends.size()));
}

/// Labels or numbers of texts, of pairs of texts and of tokens: classify, score, rerank and tag.
class LabelledTask : public Task {
 public:
  LabelledTask(const TrainConfig& config, const std::filesystem::path& start, Observer& observer)
      : LabelledTask(config, start, read_split(config), observer) {}

  std::vector<checkpoint::NamedFile> files() const override { return vocabulary_.files; }
  std::string piece(int32_t token) const override { return piece_of(vocabulary_.tokenizer, token); }
  SampleNames sample_names() const override { return {"text", "label", "predicted"}; }

  void evaluate(const model::Transformer& model, Compute compute, distribute::Group& group,
                ValidationRecord& record) const override {
    const auto logits = logits_of(model, compute, group);
    add_label_scores(targets_, logits, record);
    for (size_t i = 0; i < shown_.size(); ++i)
      record.samples.push_back({shown_[i], target_text(targets_, targets_.texts[i]),
                                predicted_text(targets_, logits[i])});
  }

 private:
  LabelledTask(const TrainConfig& config, const std::filesystem::path& start,
               const SplitLines& split, Observer& observer)
      : Task(config.model),
        config_(config),
        vocabulary_(prepare_tokenizer(
            config, start, start.empty() ? texts_of(split.train) : std::vector<std::string>(),
            model_, observer)) {
    fingerprint_ = split.fingerprint;
    set_head(start, split.train, observer);
    tasks::TextSettings settings;
    if (!start.empty()) settings = tasks::read_text_settings(start, tasks::context_limit(model_));
    const int64_t window = config.window_tokens();
    settings.limit.most = settings.limit.most == 0 ? window : std::min(settings.limit.most, window);
    const LabelledTexts reader(config_, vocabulary_.tokenizer, targets_.names, settings);
    std::vector<data::LabelledText> train = reader.read(split.train);
    targets_.texts = reader.read(split.valid);
    const data::Labels labels{.loss = targets_.loss,
                              .count = std::ssize(targets_.names),
                              .weights = label_weights(config.classify, targets_.names, train)};
    observer.log(fmt::format("{} texts for training, {} for validation, of at most {} tokens",
                             train.size(), targets_.texts.size(), settings.limit.most));
    if (config.run.task == TaskKind::rerank) targets_.queries = queries_of(split.valid);
    for (const LabelledLine& line : split.valid) {
      if (std::ssize(shown_) == config.validation.samples) break;
      shown_.push_back(line.pair ? fmt::format("{} | {}", line.text, *line.pair) : line.text);
    }
    train_ = std::make_unique<data::LabelledDataset>(std::move(train), labels);
    valid_ = std::make_unique<data::LabelledDataset>(targets_.texts, labels);
  }

  /// Gives the model a head for the labels, unless an adapter is trained: then it has one.
  void set_head(const std::filesystem::path& start, const std::vector<LabelledLine>& lines,
                Observer& observer) {
    const ClassifierConfig known =
        start.empty() ? ClassifierConfig() : checkpoint::build_model(start)->config().classifier;
    targets_.names = label_names(config_, lines, known);
    targets_.loss = loss_of(config_);
    targets_.of_tokens = config_.run.task == TaskKind::tag;
    targets_.probabilities = config_.run.task == TaskKind::rerank &&
                             targets_.loss == data::LabelLoss::binary_cross_entropy;
    const model::Labels labels = labels_of(config_, targets_.names);
    if (config_.lora.enabled) {
      require(known.kind == labels.kind && known.labels == labels.names,
              "{} has no head for the labels {}: an adapter cannot hold a new one; train without "
              "lora first",
              config_.from, fmt::join(labels.names, ", "));
      model_.classifier = known;
    } else {
      model_ = model::with_labels(model_, labels);
    }
    if (config_.run.task == TaskKind::classify || targets_.of_tokens)
      observer.log(fmt::format("labels: {}", fmt::join(targets_.names, ", ")));
  }

  /// The logits of all validation texts. Collective: each rank computes those of its batches.
  std::vector<std::vector<float>> logits_of(const model::Transformer& model, Compute compute,
                                            distribute::Group& group) const {
    const size_t width = targets_.names.size();
    std::vector<size_t> begins{0};
    for (const data::LabelledText& text : targets_.texts)
      begins.push_back(begins.back() + width * rows_in(text));
    std::vector<double> numbers = distribute::propagate_errors(group, [&] {
      std::vector<double> own(begins.back());
      const auto batches = data::plan_batches(valid_->lengths(), {}, 0);
      for (auto b = static_cast<size_t>(group.rank()); b < batches.size();
           b += static_cast<size_t>(group.size()))
        run_batch(model, compute, batches[b], begins, own);
      return own;
    });
    // Zeros where another rank has the logit.
    const std::vector<double> all = group.all_gather(numbers);
    std::ranges::fill(numbers, 0.0);
    for (size_t i = 0; i < all.size(); ++i) numbers[i % numbers.size()] += all[i];
    std::vector<std::vector<float>> logits;
    for (size_t i = 0; i + 1 < begins.size(); ++i)
      logits.emplace_back(numbers.begin() + static_cast<int64_t>(begins[i]),
                          numbers.begin() + static_cast<int64_t>(begins[i + 1]));
    return logits;
  }

  void run_batch(const model::Transformer& model, Compute compute,
                 const std::vector<int64_t>& examples, const std::vector<size_t>& begins,
                 std::vector<double>& numbers) const {
    const data::Batch batch = valid_->batch(examples, 0);
    Context context{.dtype = activation_dtype(compute)};
    const Tensor logits = ops::to_f32(
        context, model.classify(context, {batch.source, batch.source_offsets, batch.types}));
    const size_t width = targets_.names.size();
    size_t first = 0;
    for (size_t i = 0; i < examples.size(); ++i) {
      const auto example = static_cast<size_t>(examples[i]);
      const data::LabelledText& text = targets_.texts[example];
      if (targets_.of_tokens) first = static_cast<size_t>(batch.source_offsets[i]);
      for (size_t row = 0; row < rows_in(text); ++row) {
        const size_t from = first + (text.rows.empty() ? row : static_cast<size_t>(text.rows[row]));
        std::ranges::copy(logits.values<float>().subspan(from * width, width),
                          numbers.begin() + static_cast<int64_t>(begins[example] + row * width));
      }
      first += rows_in(text);
    }
  }

  TrainConfig config_;
  TokenizerWithFiles vocabulary_;
  LabelledTargets targets_;
  std::vector<std::string> shown_;
};

}  // namespace

std::unique_ptr<Task> make_labelled_task(const TrainConfig& config,
                                         const std::filesystem::path& start, Observer& observer) {
  return std::make_unique<LabelledTask>(config, start, observer);
}

}  // namespace heed::train
