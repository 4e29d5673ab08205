// TrainConfig::validate(): all checks that do not need the text.
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/generate/search.h"
#include "heed/model/families/family.h"
#include "heed/model/transformer.h"
#include "heed/train/config/config.h"
#include "heed/train/config/data_check.h"
#include "heed/train/config/embed_check.h"
#include "heed/train/tasks/vocabulary.h"

namespace heed::train {
namespace {

// Upper limits, far beyond any real run, that keep products within int64_t.
constexpr int64_t kMaxSteps = int64_t{1} << 48;
constexpr int64_t kMaxEpochs = int64_t{1} << 31;
constexpr int64_t kMaxTokens = int64_t{1} << 30;  // of a batch, whose offsets are int32_t
constexpr int64_t kMaxPieces = int64_t{1} << 24;
constexpr int64_t kMaxAccumulation = int64_t{1} << 20;
constexpr int64_t kMaxMicrobatches = 1 << 20;
constexpr int64_t kMaxRank = 1 << 16;
constexpr int64_t kMaxMinutes = 100'000'000;

/// A fraction below 1, also after rounding to f32.
void check_below_one(std::string_view name, double value) {
  require(value >= 0 && static_cast<float>(value) < 1.0f,
          "{} is {}, expected at least 0 and below 1", name, value);
}

void check_vocabulary(const VocabularyConfig& vocabulary, TaskKind task) {
  require(vocabulary.kind == "bpe" || vocabulary.kind == "unigram",
          "vocabulary.kind is \"{}\", expected bpe or unigram", vocabulary.kind);
  require(task == TaskKind::translation || (vocabulary.kind == "bpe" && vocabulary.model.empty()),
          "the task {} learns a bpe vocabulary: vocabulary.kind is {}, vocabulary.model is \"{}\"",
          name_of(task), vocabulary.kind, vocabulary.model);
  if (vocabulary.model.empty())
    check_count("vocabulary.size", vocabulary.size, min_vocabulary(task), kMaxPieces);
}

/// A task that replaces the head of the model needs one stack.
void check_one_stack(TaskKind task, const model::ModelConfig& model) {
  require(
      (model.encoder_layers > 0) != (model.decoder_layers > 0),
      "the task {} trains an encoder-only or decoder-only model, model.encoder_layers is {} and "
      "model.decoder_layers {}",
      name_of(task), model.encoder_layers, model.decoder_layers);
}

/// Throws Error unless the model has exactly the stacks that the task trains, and a head.
void check_stacks(TaskKind task, const model::ModelConfig& model) {
  if (gives_labels(task) || task == TaskKind::embed) return check_one_stack(task, model);
  const bool encoder = task != TaskKind::causal_lm && task != TaskKind::chat &&
                       task != TaskKind::preference,
             decoder = task != TaskKind::masked_lm;
  for (const auto& [wanted, layers, stack] : {std::tuple{encoder, model.encoder_layers, "encoder"},
                                              {decoder, model.decoder_layers, "decoder"}})
    require(wanted == (layers > 0), "the task {} trains a model {} {}, model.{}_layers is {}",
            name_of(task), wanted ? "with an" : "without", stack, stack, layers);
  require(model.has_head, "the task {} predicts tokens, the model has no head for that",
          name_of(task));
}

void check_model(const TrainConfig& config) {
  const bool has_vocabulary = config.model.vocab_size > 0;
  model::ModelConfig sized = config.model;
  if (!has_vocabulary) take_new_vocabulary(config.vocabulary.size, config.run.task, sized);
  sized.validate();
  check_stacks(config.run.task, sized);
  model::Transformer(sized, std::nullopt);  // throws on inconsistent sizes
  // Whether a family can describe the model may depend on the special tokens. They are unknown only
  // when a fine-tuning run is resumed; the family has already written its checkpoint.
  if (has_vocabulary || config.from.empty()) model::family_for(sized);
}

void check_optimizer(const OptimizerConfig& optimizer) {
  check_number("optimizer.learning_rate", optimizer.learning_rate, 0);
  check_number("optimizer.weight_decay", optimizer.weight_decay, 0);
  check_number("optimizer.adam_epsilon", optimizer.adam_epsilon, 0);
  check_below_one("optimizer.adam_beta1", optimizer.adam_beta1);
  check_below_one("optimizer.adam_beta2", optimizer.adam_beta2);
  require(optimizer.name != OptimizerKind::schedule_free ||
              (optimizer.lr_scheduler_type == ScheduleKind::constant && optimizer.adam_beta1 > 0),
          "optimizer.name schedule_free needs optimizer.lr_scheduler_type constant and "
          "optimizer.adam_beta1 above 0");
  check_below_one("optimizer.muon_momentum", optimizer.muon_momentum);
  require(optimizer.muon_iterations >= 1 && optimizer.muon_iterations <= 20,
          "optimizer.muon_iterations is {}, expected 1 to 20", optimizer.muon_iterations);
  check_below_one("optimizer.soap_beta1", optimizer.soap_beta1);
  check_below_one("optimizer.soap_beta2", optimizer.soap_beta2);
  check_count("optimizer.soap_frequency", optimizer.soap_frequency, 1);
  check_count("optimizer.soap_max_dim", optimizer.soap_max_dim, 1);
  check_below_one("optimizer.label_smoothing_factor", optimizer.label_smoothing_factor);
  check_count("optimizer.warmup_steps", optimizer.warmup_steps, 0);
  require(optimizer.warmup_ratio >= 0 && optimizer.warmup_ratio <= 1,
          "optimizer.warmup_ratio is {}, expected 0 to 1", optimizer.warmup_ratio);
  check_at_least("optimizer.max_grad_norm", optimizer.max_grad_norm, 0);
  check_at_least("optimizer.skip_outliers", optimizer.skip_outliers, 0);
  require(optimizer.min_lr_rate >= 0 && optimizer.min_lr_rate <= 1,
          "optimizer.min_lr_rate is {}, expected 0 to 1", optimizer.min_lr_rate);
}

void check_chat(const TrainConfig& config) {
  require(config.run.task != TaskKind::chat || !config.from.empty(),
          "the task chat needs a model with a chat template: model.from names none");
}

void check_preference(const TrainConfig& config) {
  if (config.run.task != TaskKind::preference) {
    require(config.preference == PreferenceConfig(),
            "preference.beta is for the task preference, the task is {}", name_of(config.run.task));
    return;
  }
  require(config.lora.enabled,
          "the task preference trains an adapter (lora.enabled): the model without it is the "
          "reference");
  check_number("preference.beta", config.preference.beta, 0);
  require(config.optimizer.label_smoothing_factor == 0,
          "optimizer.label_smoothing_factor is {}, the task preference has none",
          config.optimizer.label_smoothing_factor);
}

void check_labels(const TrainConfig& config) {
  const ClassifyConfig& classify = config.classify;
  const TaskKind task = config.run.task;
  const bool names = task == TaskKind::classify || task == TaskKind::tag;
  require(names || (classify.labels.empty() && classify.class_weights.empty() && !classify.balance),
          "classify.labels, class_weights and balance are for the tasks classify and tag, the task "
          "is {}",
          name_of(task));
  require(task == TaskKind::classify || !classify.multi_label,
          "classify.multi_label is for the task classify, the task is {}", name_of(task));
  require(classify.class_weights.empty() || !classify.balance,
          "classify.class_weights and classify.balance are both given, expected one of them");
  for (const double weight : classify.class_weights)
    check_number("a weight of classify.class_weights", weight, 0);
  require(task == TaskKind::rerank || config.rerank == RerankConfig(),
          "rerank.loss is for the task rerank, the task is {}", name_of(task));
  if (!gives_labels(task) && task != TaskKind::embed) return;
  require(config.optimizer.label_smoothing_factor == 0,
          "optimizer.label_smoothing_factor is {}, the task {} has none",
          config.optimizer.label_smoothing_factor, name_of(task));
  require(config.data.document == data::DocumentEnd::file,
          "data.document is {}, the task {} reads an example from each line",
          name_of(config.data.document), name_of(task));
}

void check_guided_alignment(const TrainConfig& config) {
  check_number("guided_alignment.weight", config.guided_alignment.weight, 0);
  require(!has_alignments(config.data) || !config.model.latent.present(),
          "data.alignments need cross-attention with keys, the model has latent attention");
}

void check_lora(const TrainConfig& config) {
  const LoraConfig& lora = config.lora;
  if (!lora.enabled) return;
  require(!config.from.empty(), "lora.enabled is true, and model.from names no model to adapt");
  require(config.vocabulary.word_vectors.empty(),
          "vocabulary.word_vectors initialise embeddings, which lora does not train");
  check_count("lora.rank", lora.rank, 1, kMaxRank);
  check_number("lora.alpha", lora.alpha, 0);
  check_below_one("lora.dropout", lora.dropout);
  for (const int64_t layer : lora.layers) check_count("a number of lora.layers", layer, 0);
}

void check_run(const TrainConfig& config) {
  const RunConfig& run = config.run;
  require(run.compute == "auto" || run.compute == "f32" || run.compute == "bf16",
          "run.compute is \"{}\", expected auto, f32 or bf16", run.compute);
  require(run.seed <= static_cast<uint64_t>(kNoUpperLimit),
          "run.seed is {}, expected at most {}: TOML has no larger integers", run.seed,
          kNoUpperLimit);
  check_count("run.token_budget", run.token_budget, 16, kMaxTokens);
  check_count("run.gradient_accumulation_steps", run.gradient_accumulation_steps, 1,
              kMaxAccumulation);
  check_count("run.average", run.average, 0);
  require(run.average_window >= 0 && run.average_window <= 1,
          "run.average_window is {}, expected 0 to 1", run.average_window);
  require(run.context >= 0 && run.context <= config.model.max_positions,
          "run.context is {}, expected 0 to model.max_position_embeddings, which is {}",
          run.context, config.model.max_positions);
  const TextFrame frame = frame_of(run.task);
  const int64_t framing = run.task == TaskKind::masked_lm ? frame.begin + frame.end : 0;
  require(config.window_tokens() > framing,
          "the windows have {} tokens, expected more than the {} special tokens around a text: "
          "raise run.context or model.max_position_embeddings",
          config.window_tokens(), framing);
  check_count("run.max_steps", run.max_steps, 0, kMaxSteps);
  check_count("run.num_train_epochs", run.num_train_epochs, 0, kMaxEpochs);
  check_count("run.min_steps", run.min_steps, 0, kMaxSteps);
  require(run.minutes >= 0 && run.minutes <= static_cast<double>(kMaxMinutes),
          "run.minutes is {}, expected 0 to {}", run.minutes, kMaxMinutes);
  require(run.max_steps > 0 || run.num_train_epochs > 0 || run.minutes > 0 ||
              config.validation.early_stopping_patience > 0,
          "nothing would end the run: set run.max_steps, run.num_train_epochs, run.minutes or "
          "validation.early_stopping_patience");
  require(config.optimizer.warmup_ratio == 0 || run.max_steps > 0 || run.num_train_epochs > 0 ||
              run.minutes > 0,
          "optimizer.warmup_ratio needs a number of steps: set run.max_steps, run.num_train_epochs "
          "or run.minutes");
}

void check_validation(const ValidationConfig& validation) {
  check_count("validation.eval_steps", validation.eval_steps, 1);
  check_count("validation.sentences", validation.sentences, 1);
  check_count("validation.num_beams", validation.num_beams, 1, generate::kMaxBeams);
  check_count("validation.samples", validation.samples, 0);
  check_count("validation.early_stopping_patience", validation.early_stopping_patience, 0);
}

void check_distributed(const TrainConfig& config) {
  const DistributedConfig& distributed = config.distributed;
  check_count("distributed.leaves", distributed.leaves, 0, kMaxMicrobatches);
  require(distributed.leaves == 0 || std::has_single_bit(static_cast<uint64_t>(distributed.leaves)),
          "distributed.leaves is {}, expected a power of two", distributed.leaves);
  check_number("distributed.timeout", distributed.timeout, 1);
  require(distributed.backend == "mpi" || distributed.backend == "nccl",
          "distributed.backend is \"{}\", expected mpi or nccl", distributed.backend);
}

}  // namespace

void TrainConfig::validate() const {
  check_data(*this);
  if (from.empty()) check_vocabulary(vocabulary, run.task);  // otherwise the checkpoint's is used
  check_model(*this);
  check_optimizer(optimizer);
  check_lora(*this);
  check_chat(*this);
  check_preference(*this);
  check_labels(*this);
  check_embed(*this);
  check_guided_alignment(*this);
  check_run(*this);
  check_distributed(*this);
  check_validation(validation);
  check_written_fields(*this);
}

}  // namespace heed::train
