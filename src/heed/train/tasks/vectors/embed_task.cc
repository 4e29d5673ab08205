#include <algorithm>
#include <map>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/data/batch_plan.h"
#include "heed/data/text_group_dataset.h"
#include "heed/distribute/agree.h"
#include "heed/model/families/head_change.h"
#include "heed/tasks/text_settings.h"
#include "heed/tasks/text_tokens.h"
#include "heed/train/distributed/gather_numbers.h"
#include "heed/train/losses/pooled_texts.h"
#include "heed/train/tasks/hold_out.h"
#include "heed/train/tasks/tasks.h"
#include "heed/train/tasks/vectors/embed_files.h"
#include "heed/train/tasks/vectors/group_lines.h"
#include "heed/train/tasks/vectors/hard_negatives.h"
#include "heed/train/tasks/vectors/vector_scores.h"
#include "heed/train/tasks/vocabulary.h"

namespace heed::train {
namespace {

using data::VectorLoss;

constexpr int64_t kGroupsPerTask = 32;

struct SplitGroups {
  std::vector<GroupLine> train, valid;
  DataFingerprint fingerprint;  // before lines are held out
};

SplitGroups read_groups(const TrainConfig& config) {
  GroupLines train = read_group_lines(config.data.text, config.embed), valid;
  const bool held_out = config.data.valid_text.empty();
  if (!held_out) valid = read_group_lines(config.data.valid_text, config.embed);
  SplitGroups split{
      std::move(train.lines), std::move(valid.lines), {train.fingerprint, valid.fingerprint}};
  if (held_out)
    split.valid = hold_out(split.train, config.data.held_out, config.run.seed, "example");
  return split;
}

std::vector<std::string> all_texts(const std::vector<GroupLine>& lines) {
  std::vector<std::string> texts;
  for (const GroupLine& line : lines)
    texts.insert(texts.end(), line.texts.begin(), line.texts.end());
  return texts;
}

data::VectorLossOptions loss_options(const EmbedConfig& config, const VectorOfText& model) {
  return {.loss = config.loss,
          .scale = config.scale,
          .margin = config.margin,
          .distance = config.distance,
          .pooling = model.pooling == Pooling::mean  ? data::TextState::mean
                     : model.pooling == Pooling::cls ? data::TextState::cls
                                                     : data::TextState::last,
          .normalize = model.normalized,
          .dims = config.matryoshka_dims,
          .dim_weights = config.matryoshka_weights};
}

/// Vectors of texts, which are compared with each other: embed.
class EmbedTask : public Task {
 public:
  EmbedTask(const TrainConfig& config, const std::filesystem::path& start, Observer& observer)
      : EmbedTask(config, start, read_groups(config), observer) {}

  std::vector<checkpoint::NamedFile> files() const override {
    std::vector<checkpoint::NamedFile> all = vocabulary_.files;
    for (checkpoint::NamedFile& file : embedder_files(options_, vector_, model_.d_model))
      all.push_back(std::move(file));
    return all;
  }
  std::string piece(int32_t token) const override { return piece_of(vocabulary_.tokenizer, token); }
  SampleNames sample_names() const override { return {"query", "document", "found"}; }
  bool mixes_lengths() const override { return true; }

  void evaluate(const model::Transformer& model, Compute compute, distribute::Group& group,
                ValidationRecord& record) const override {
    const auto [vectors, groups] = vectors_of(model, compute, group);
    add_vector_scores(vectors, groups, record);
  }

 private:
  EmbedTask(const TrainConfig& config, const std::filesystem::path& start, const SplitGroups& split,
            Observer& observer)
      : Task(config.model),
        config_(config),
        vocabulary_(prepare_tokenizer(
            config, start, start.empty() ? all_texts(split.train) : std::vector<std::string>(),
            model_, observer)) {
    fingerprint_ = split.fingerprint;
    if (!config.lora.enabled && model_.decoder_layers == 0) model_ = model::without_head(model_);
    choose_options(start);
    require_fitting(split.train.front());
    const data::VectorLossOptions loss = loss_options(config.embed, vector_);
    std::vector<data::TextGroup> train = groups_of(split.train), valid = groups_of(split.valid);
    if (config.embed.hard_negatives > 0) find_negatives(loss, train, observer);
    observer.log(fmt::format(
        "{} examples for training, {} for validation, texts of at most {} tokens, pooled by {}{}",
        train.size(), valid.size(), options_.max_seq_length, name_of(vector_.pooling),
        vector_.normalized ? ", normalised" : ""));
    if (options_.lexical || options_.multi_vector)
      observer.log("warning: heads of sparse vectors and of vectors of tokens are left out");
    for (const std::string& warning : options_.warnings) observer.log("warning: " + warning);
    for (const auto& [name, prompt] : options_.prompts)
      observer.log(fmt::format("prompt {}: {}", name, quoted(prompt)));
    train_ = std::make_unique<data::TextGroupDataset>(std::move(train), loss);
    valid_ = std::make_unique<data::TextGroupDataset>(std::move(valid), loss);
  }

  /// Adds negatives that the model to start from finds, also when the run is resumed: then they
  /// must be the same.
  void find_negatives(const data::VectorLossOptions& loss, std::vector<data::TextGroup>& train,
                      Observer& observer) {
    add_hard_negatives(config_.embed, *checkpoint::load_model(config_.from), loss, train);
    int64_t found = 0;
    for (const data::TextGroup& group : train) {
      found += std::ssize(group.ids) - 2;
      for (const uint64_t hash : group.hashes)
        fingerprint_.training.hash =
            data::hash_after(fingerprint_.training.hash, fmt::format("{}", hash));
    }
    observer.log(fmt::format("hard negatives: {} for {} queries", found, train.size()));
  }

  /// How the model makes vectors: as its files say, unless the configuration says it.
  void choose_options(const std::filesystem::path& start) {
    const EmbedConfig& embed = config_.embed;
    vector_.pooling = model_.encoder_layers > 0 ? Pooling::mean : Pooling::last;
    if (!start.empty() && path_exists(start / tasks::kModulesFile)) {
      require_trained_modules(start);
      options_ = tasks::read_embedder_options(start, tasks::context_limit(model_));
      require(options_.pooling.size() == 1,
              "{} pools states in {} ways, and heed trains one: embed.pooling", start.string(),
              options_.pooling.size());
      vector_ = {options_.pooling.front(), options_.normalizes()};
    }
    if (embed.pooling != EmbedPooling::model)
      vector_.pooling = embed.pooling == EmbedPooling::mean  ? Pooling::mean
                        : embed.pooling == EmbedPooling::cls ? Pooling::cls
                                                             : Pooling::last;
    require(vector_.pooling == Pooling::mean || vector_.pooling == Pooling::cls ||
                vector_.pooling == Pooling::last,
            "the model pools by {}, and heed trains mean, cls and last (embed.pooling)",
            name_of(vector_.pooling));
    for (const auto& [name, prompt] :
         {std::pair{"query", &embed.query_prompt}, {"document", &embed.document_prompt}})
      if (!prompt->empty()) options_.prompts[name] = *prompt;
    const int64_t window = config_.window_tokens(), known = options_.max_seq_length;
    options_.max_seq_length = known == 0 ? window : std::min(known, window);
  }

  void require_fitting(const GroupLine& line) const {
    require(config_.embed.loss != VectorLoss::distill || std::ssize(line.scores) == model_.d_model,
            "{}: the vector has {} numbers, the model's have {}", line.where, line.scores.size(),
            model_.d_model);
    for (const int64_t width : config_.embed.matryoshka_dims)
      require(width <= model_.d_model,
              "embed.matryoshka_dims has {}, the vectors of the model have {} numbers", width,
              model_.d_model);
  }

  std::string prompt_of(size_t text) const {
    const bool pair = config_.embed.loss == VectorLoss::cosine ||
                      config_.embed.loss == VectorLoss::cosent ||
                      config_.embed.loss == VectorLoss::distill;
    const auto found = options_.prompts.find(text == 0 ? "query" : "document");
    return pair || found == options_.prompts.end() ? options_.prompt : found->second;
  }

  std::vector<int32_t> ids_of(const std::string& text) const {
    return tasks::ids_within(vocabulary_.tokenizer,
                             options_.lower_case ? tasks::lower_cased(text) : text,
                             {options_.max_seq_length, options_.truncate_left});
  }

  /// The tokens of a prompt, which are not pooled if the model says so; without a special token at
  /// the end, which would follow the text.
  int32_t unpooled(const std::string& prompt) const {
    if (options_.include_prompt || prompt.empty()) return 0;
    const std::vector<int32_t> ids = ids_of(prompt);
    const bool ends = !ids.empty() && vocabulary_.tokenizer.is_special(ids.back());
    return static_cast<int32_t>(ids.size()) - (ends ? 1 : 0);
  }

  data::TextGroup group_of(const GroupLine& line) const {
    data::TextGroup group{.ids = {}, .hashes = {}, .scores = line.scores};
    for (size_t i = 0; i < line.texts.size(); ++i) {
      const std::string prompt = prompt_of(i);
      group.ids.push_back(ids_of(prompt + line.texts[i]));
      require(!group.ids.back().empty(), "{}: a text has no tokens", line.where);
      group.hashes.push_back(data::hash_after(0, line.texts[i]));
      group.unpooled.push_back(unpooled(prompt));
    }
    return group;
  }

  std::vector<data::TextGroup> groups_of(const std::vector<GroupLine>& lines) const {
    std::vector<data::TextGroup> groups(lines.size());
    parallel_in_order(std::ssize(lines), kGroupsPerTask, [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
        groups[i] = group_of(lines[i]);
    });
    return groups;
  }

  /// The vectors of all validation texts. Collective: each rank computes those of its batches.
  std::pair<Tensor, data::TextGroups> vectors_of(const model::Transformer& model, Compute compute,
                                                 distribute::Group& group) const {
    const auto batches = data::plan_batches(valid_->lengths(), {}, 0);
    const size_t count = batches.size(), size = static_cast<size_t>(group.size());
    const auto first = [&](size_t rank) { return count * rank / size; };
    const auto rank = static_cast<size_t>(group.rank());
    const std::vector<double> numbers = gather_numbers(
        group, distribute::propagate_errors(group, [&] {
          std::vector<double> own;
          for (size_t i = first(rank); i < first(rank + 1); ++i) {
            Context context{.dtype = activation_dtype(compute)};
            const Tensor vectors = pooled_texts(model, context, valid_->batch(batches[i], 0));
            own.insert(own.end(), vectors.values<float>().begin(), vectors.values<float>().end());
          }
          return own;
        }));
    data::TextGroups groups;
    for (const std::vector<int64_t>& batch : batches) groups.append(valid_->batch(batch, 0).groups);
    Tensor vectors = Tensor::empty({std::ssize(groups.texts), model_.d_model});
    for (size_t i = 0; i < numbers.size(); ++i)
      vectors.data<float>()[i] = static_cast<float>(numbers[i]);
    return {vectors, std::move(groups)};
  }

  TrainConfig config_;
  TokenizerWithFiles vocabulary_;
  tasks::EmbedderOptions options_;
  VectorOfText vector_;
};

}  // namespace

std::unique_ptr<Task> make_embed_task(const TrainConfig& config, const std::filesystem::path& start,
                                      Observer& observer) {
  return std::make_unique<EmbedTask>(config, start, observer);
}

}  // namespace heed::train
