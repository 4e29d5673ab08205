#include <algorithm>
#include <tuple>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/data/batch_plan.h"
#include "heed/data/text_group_dataset.h"
#include "heed/distribute/agree.h"
#include "heed/model/families/head_change.h"
#include "heed/tasks/multi_vector_tokens.h"
#include "heed/tasks/text_reader.h"
#include "heed/tasks/text_tokens.h"
#include "heed/train/distributed/gather_numbers.h"
#include "heed/train/losses/pooled_texts.h"
#include "heed/train/tasks/hold_out.h"
#include "heed/train/tasks/tasks.h"
#include "heed/train/tasks/vectors/embed_files.h"
#include "heed/train/tasks/vectors/embed_settings.h"
#include "heed/train/tasks/vectors/group_lines.h"
#include "heed/train/tasks/vectors/hard_negatives.h"
#include "heed/train/tasks/vectors/vector_scores.h"
#include "heed/train/tasks/vocabulary.h"

namespace heed::train {
namespace {

using data::VectorKind;
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
  const double usual_scale = model.kind == VectorKind::dense ? 20 : 1;
  return {.loss = config.loss,
          .kind = model.kind,
          .scale = config.scale > 0 ? config.scale : usual_scale,
          .margin = config.margin,
          .distance = config.distance,
          .temperature = config.temperature,
          .teacher_temperature =
              config.teacher_temperature > 0 ? config.teacher_temperature : config.temperature,
          .query_flops = config.query_flops,
          .document_flops = config.document_flops,
          .pooling = model.pooling,
          .dense = functions_of(model.dense),
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
    for (checkpoint::NamedFile& file : embedder_files(options_, vector_, model_))
      all.push_back(std::move(file));
    return all;
  }
  std::string piece(int32_t token) const override { return piece_of(vocabulary_.tokenizer, token); }
  SampleNames sample_names() const override { return {"query", "document", "found"}; }
  bool mixes_lengths() const override { return true; }
  std::vector<DenseModule> dense_modules() const override { return vector_.dense; }

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
    std::tie(options_, vector_) = embed_settings(config, model_, start);
    if (vector_.kind != VectorKind::sparse && !config.lora.enabled && model_.decoder_layers == 0)
      model_ = model::without_head(model_);
    require_fitting(split.train.front());
    if (vector_.kind == VectorKind::multi_vector) make_token_readers();
    const data::VectorLossOptions loss = loss_options(config.embed, vector_);
    std::vector<data::TextGroup> train = groups_of(split.train), valid = groups_of(split.valid);
    if (config.embed.hard_negatives > 0) find_negatives(loss, train, observer);
    observer.log(
        fmt::format("{} examples for training, {} for validation, texts of at most {} "
                    "tokens, {}",
                    train.size(), valid.size(), options_.max_seq_length, description_of_vectors()));
    if (options_.lexical || (options_.multi_vector && vector_.kind != VectorKind::multi_vector))
      observer.log("warning: heads of sparse vectors and of vectors of tokens are left out");
    for (const std::string& warning : options_.warnings) observer.log("warning: " + warning);
    for (const auto& [name, prompt] : options_.prompts)
      observer.log(fmt::format("prompt {}: {}", name, quoted(prompt)));
    train_ = std::make_unique<data::TextGroupDataset>(std::move(train), loss);
    valid_ = std::make_unique<data::TextGroupDataset>(std::move(valid), loss);
  }

  std::string description_of_vectors() const {
    if (vector_.kind == VectorKind::dense)
      return fmt::format("pooled by {}{}", names_of(vector_.pooling),
                         vector_.normalized ? ", normalised" : "");
    return fmt::format("{} vectors", name_of(vector_.kind));
  }

  /// Adds negatives that the model to start from finds, also when the run is resumed: then they
  /// must be the same.
  void find_negatives(const data::VectorLossOptions& loss, std::vector<data::TextGroup>& train,
                      Observer& observer) {
    const auto model = checkpoint::load_model(config_.from);
    // Of a run that is resumed, vector_ begins with its own files.
    const auto dense = embed_settings(config_, model_, config_.from).second.dense;
    add_dense_modules(*model, dense);
    load_dense_modules(dense, *model);
    add_hard_negatives(config_.embed, *model, loss, vector_.width(model_.d_model), train);
    int64_t found = 0;
    for (const data::TextGroup& group : train) {
      found += std::ssize(group.ids) - 2;
      for (const uint64_t hash : group.hashes)
        fingerprint_.training.hash =
            data::hash_after(fingerprint_.training.hash, fmt::format("{}", hash));
    }
    observer.log(fmt::format("hard negatives: {} for {} queries", found, train.size()));
  }

  void require_fitting(const GroupLine& line) const {
    const int64_t own = vector_.width(model_.d_model);
    require(config_.embed.loss != VectorLoss::distill || std::ssize(line.scores) == own,
            "{}: the vector has {} numbers, the model's have {}", line.where, line.scores.size(),
            own);
    for (const int64_t width : config_.embed.matryoshka_dims)
      require(width <= own,
              "embed.matryoshka_dims has {}, the vectors of the model have {} numbers", width, own);
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

  /// Queries and documents are read as `heed embed` does for late interaction.
  void make_token_readers() {
    for (const heed::EmbedTask task : {heed::EmbedTask::query, heed::EmbedTask::document}) {
      tasks::EmbedderOptions own = options_;
      own.apply({.task = task}, model_.d_model);
      tasks::TextReader reader(model_, vocabulary_.tokenizer, own);
      tasks::MultiVectorTokens tokens(*own.multi_vector, reader.tokenizer(), task,
                                      reader.max_tokens());
      token_readers_.push_back({std::move(reader), std::move(tokens)});
    }
  }

  data::TextGroup group_of_tokens(const GroupLine& line) const {
    data::TextGroup group{.ids = {}, .hashes = {}, .scores = line.scores};
    for (size_t i = 0; i < line.texts.size(); ++i) {
      const auto& [reader, tokens] = token_readers_[i == 0 ? 0 : 1];
      tasks::MultiVectorText text = tokens.read(reader.tokens(line.texts[i]));
      require(!text.scored.empty(), "{}: a text has no token with a vector", line.where);
      group.ids.push_back(std::move(text.ids));
      group.hashes.push_back(data::hash_after(0, line.texts[i]));
      group.unpooled.push_back(0);
      group.scored.push_back(std::move(text.scored));
      if (token_readers_.front().tokens.hides()) group.attended.push_back(text.attended);
    }
    return group;
  }

  data::TextGroup group_of(const GroupLine& line) const {
    if (!token_readers_.empty()) return group_of_tokens(line);
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
    const int64_t rows = groups.vectors();
    Tensor vectors = Tensor::empty({rows, std::ssize(numbers) / rows});
    for (size_t i = 0; i < numbers.size(); ++i)
      vectors.data<float>()[i] = static_cast<float>(numbers[i]);
    return {vectors, std::move(groups)};
  }

  TrainConfig config_;
  TokenizerWithFiles vocabulary_;
  tasks::EmbedderOptions options_;
  VectorOfText vector_;
  struct TokenReader {
    tasks::TextReader reader;
    tasks::MultiVectorTokens tokens;
  };
  std::vector<TokenReader> token_readers_;  // of queries and of documents, if tokens have vectors
};

}  // namespace

std::unique_ptr<Task> make_embed_task(const TrainConfig& config, const std::filesystem::path& start,
                                      Observer& observer) {
  return std::make_unique<EmbedTask>(config, start, observer);
}

}  // namespace heed::train
