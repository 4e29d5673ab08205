#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/data/corpus.h"
#include "heed/data/documents.h"
#include "heed/data/text_filter.h"
#include "heed/data/text_groups.h"
#include "heed/model/config.h"
#include "heed/text/language_tokens.h"
#include "heed/train/optimizers/optimizer.h"
#include "heed/train/optimizers/schedule.h"

namespace heed::train {

/// What a model is trained to predict.
enum class TaskKind {
  translation,   // target from source, with Marian's tokenizer, as `heed translate` reads it
  text_to_text,  // target from source, with any tokenizer of an encoder-decoder (T5, BART)
  causal_lm,     // the next token: a decoder-only model (Llama, GPT-2)
  masked_lm,     // masked tokens: an encoder-only model (BERT)
  chat,          // what assistants say in conversations: a decoder-only model
  preference,    // of two answers the better one: an adapter of a decoder-only model (DPO)
  classify,      // labels of texts: an encoder-only or decoder-only model, as the next three
  score,         // numbers of texts or of pairs of texts
  rerank,        // how well documents answer queries: a cross-encoder
  tag,           // labels of tokens: spans of texts
  embed          // vectors of texts, as the tasks above
};

/// "translation", "text-to-text", "causal-lm", "masked-lm", "chat", "preference", "classify",
/// "score", "rerank", "tag" or "embed".
std::string_view name_of(TaskKind kind);
/// Whether the task trains a head that gives labels (tasks/labelled_task.cc).
bool gives_labels(TaskKind kind);
/// Whether the task learns from pairs of sentences; the others learn from plain text.
bool reads_pairs(TaskKind kind);

/// The languages' tokens with which a source begins.
enum class LanguageTags {
  none,
  target,  // the language to translate into, as in Johnson et al. 2017
  both     // and then the language of the source
};
/// "none", "target" or "both".
std::string_view name_of(LanguageTags tags);

struct DataConfig {
  std::string source, target;  // one sentence per line; line i of target translates line i
  std::string tsv;             // or one file with lines of source, tab, target
  std::string alignments;      // of its words, as "0-0 1-2"; empty: none
  std::string source_language, target_language;  // of these; empty: see languages_of()
  std::vector<data::Corpus> corpora;             // in place of these: several
  double temperature = 1;  // a corpus of n pairs is drawn in proportion to n^(1/temperature)
  LanguageTags languages = LanguageTags::none;  // of a new vocabulary
  std::string valid_source, valid_target;       // empty: held_out pairs of the training text
  std::vector<data::Corpus> valid_corpora;      // in place of these: several
  std::string text, valid_text;                 // for language models: a file, or a folder of files
  data::DocumentEnd document = data::DocumentEnd::file;
  int64_t held_out = 500;         // pairs or windows held out for validation, at most a tenth
  int64_t max_tokens = 200;       // longer sentences are dropped
  double max_ratio = 5.0;         // and pairs in which one side is more than this many times longer
  data::TextLimits text_limits;   // and pairs by their text
  double drop_least_aligned = 0;  // and this share of each corpus, by data::AlignmentModel
};

/// The corpora of a task that reads pairs; and those for validation, none if pairs are held out.
std::vector<data::Corpus> training_corpora(const DataConfig& data);
std::vector<data::Corpus> validation_corpora(const DataConfig& data);
/// Whether a corpus of the former has alignments.
bool has_alignments(const DataConfig& data);

/// The language of each side of a corpus: what it names, or the last extension of its files, "de"
/// of "train.de"; empty if they have none, and of .tsv files.
text::LanguagePair languages_of(const data::Corpus& corpus);

/// The same as heed's identifier of languages names them: "en" for "eng_Latn".
text::LanguagePair identified_languages(const data::Corpus& corpus);

struct VocabularyConfig {
  std::string kind = "bpe";  // or "unigram"
  int64_t size = 4000;       // pieces, shared by both languages
  std::string model;         // an existing SentencePiece model; empty: a new one is trained
  std::string word_vectors;  // word2vec file (text or binary) that initialises the embeddings
};

struct OptimizerConfig {
  OptimizerKind name = OptimizerKind::adam;
  double learning_rate = 1e-3;  // peak
  ScheduleKind lr_scheduler_type = ScheduleKind::inverse_sqrt;
  int64_t warmup_steps = 4000;
  double warmup_ratio = 0;  // of all steps, in place of warmup_steps; 0: warmup_steps
  double min_lr_rate = 0;   // of cosine and linear: last learning rate / peak
  double adam_beta1 = 0.9, adam_beta2 = 0.98, adam_epsilon = 1e-9;
  double muon_momentum = 0.95;
  int64_t muon_iterations = 5;
  double soap_beta1 = 0.95, soap_beta2 = 0.95;
  int64_t soap_frequency = 10;    // steps from one eigenbasis to the next
  int64_t soap_max_dim = 10'000;  // longer sides of a matrix have no eigenbasis
  double weight_decay = 0.0;
  double max_grad_norm = 1.0;  // gradients with a larger norm are scaled down; 0: no clipping
  double label_smoothing_factor = 0.1;
  /// A step is skipped if its loss or gradient norm is more than this many standard deviations
  /// above the recent mean; 0: no step is skipped.
  double skip_outliers = 8.0;

  /// The learning rates of a run whose last step is this; 0: not known yet.
  Schedule schedule(int64_t last_step) const;
};

/// A LoRA adapter (Hu et al. 2021) that is trained in place of the weights of `from`.
struct LoraConfig {
  bool enabled = false;
  int64_t rank = 16;
  double alpha = 32;                          // the updates' factor is alpha / rank
  bool use_rslora = false;                    // alpha / sqrt(rank) instead
  double dropout = 0;                         // of the updates' input
  std::string target_modules = "all-linear";  // see checkpoint::AdapterTargets
  std::vector<int64_t> layers = {};           // empty: all
};

/// With data.alignments: the weight of the loss of one head's cross-attention (Chen et al. 2016).
struct GuidedAlignmentConfig {
  double weight = 0.1;
};

struct PreferenceConfig {
  double beta = 0.1;  // how far the model may move from the reference: the larger, the less

  bool operator==(const PreferenceConfig&) const = default;
};

/// Of the tasks classify and tag.
struct ClassifyConfig {
  /// Their names; of tag, the kinds of spans. Empty: those of the model to start from if they
  /// include all of the training text, otherwise these.
  std::vector<std::string> labels = {};
  bool multi_label = false;  // a text has any number of labels
  /// Weights of the labels' losses, in their order; with multi_label of a label that is given.
  std::vector<double> class_weights = {};
  bool balance = false;  // weights by which all labels count alike
};

/// What the task rerank compares with the score of a pair.
enum class RerankLoss {
  binary_cross_entropy,  // its sigmoid with a number from 0 to 1
  squared_error,         // itself with any number
  margin_mse             // the difference of those of two documents with any number
};
/// "binary-cross-entropy", "squared-error" or "margin-mse".
std::string_view name_of(RerankLoss loss);

struct RerankConfig {
  RerankLoss loss = RerankLoss::binary_cross_entropy;

  bool operator==(const RerankConfig&) const = default;
};

/// What the task embed makes of a text.
enum class EmbedVectors {
  model,  // what the model to start from makes of it; else dense
  dense,
  sparse,
  multi_vector
};
/// "model", "dense", "sparse" or "multi-vector".
std::string_view name_of(EmbedVectors vectors);

/// Of the task embed; see data::VectorLossOptions.
struct EmbedConfig {
  EmbedVectors vectors = EmbedVectors::model;
  data::VectorLoss loss = data::VectorLoss::infonce;
  double scale = 0, margin = 5;  // scale 0: 20 of cosines, else 1
  double query_flops = 5e-5, document_flops = 3e-5;
  int64_t token_dims = 128, query_expansion = 0;
  bool skip_punctuation = false;
  double temperature = 1, teacher_temperature = 0;  // 0: temperature
  data::Distance distance = data::Distance::euclidean;
  std::vector<int64_t> matryoshka_dims = {};
  std::vector<double> matryoshka_weights = {};
  /// How states become the vector, one after the other. Empty: as the files of the model to start
  /// from say; else mean, or last without an encoder.
  std::vector<Pooling> pooling = {};
  /// Documents of other examples that the model to start from finds nearest to the query become
  /// negatives, so many of each (add_hard_negatives()).
  int64_t hard_negatives = 0;
  double hard_negative_ratio = 0.95;
  std::string query_prompt, document_prompt;  // before the texts; empty: the model's own

  bool operator==(const EmbedConfig&) const = default;
};

struct RunConfig {
  TaskKind task = TaskKind::translation;
  uint64_t seed = 1;
  std::string compute = "auto";  // "f32", "bf16", or "auto": bf16 where it is faster
  /// Products round their factors as int8 inference does (Context::rounds_to_int8).
  bool quantization_aware = false;
  int64_t token_budget = 4096;  // per batch, of source or target tokens, whichever are more
  int64_t context = 0;          // tokens per window of a language model; 0: see window_tokens()
  int64_t gradient_accumulation_steps = 1;  // batches per optimizer step
  int64_t max_steps = 0;                    // 0: no limit
  int64_t num_train_epochs = 0;             // 0: no limit
  double minutes = 0;  // 0: no limit; otherwise as many steps are planned as fit
  /// With `minutes`: if fewer steps would fit, batches get smaller, down to half of token_budget.
  int64_t min_steps = 0;
  int64_t average = 5;  // number of last checkpoints whose mean competes to be the final model
  double average_window = 0.1;  // the last fraction of all steps, whose checkpoints are averaged
};

/// How a step is divided among the ranks of a run.
struct DistributedConfig {
  /// The microbatches of a step, whose gradients are added as a balanced tree: a power of two.
  /// Every power of two of ranks, up to this number, trains the same bits. 0: as many as there are
  /// ranks, rounded up to a power of two, but at least 8; with one process 1.
  int64_t leaves = 0;
  double timeout = 60;          // seconds to wait for another rank
  std::string backend = "mpi";  // or "nccl": what carries large messages

  int64_t microbatches_on(int ranks) const;
};

struct ValidationConfig {
  int64_t eval_steps = 500;  // steps between validations
  int64_t sentences = 200;   // translated for BLEU and chrF
  int64_t num_beams = 1;
  int64_t samples = 4;  // shown
  /// The run stops after this many validations without a better score; 0: never.
  int64_t early_stopping_patience = 0;
};

/// The configuration of a training run. Every field has a key in the TOML file.
struct TrainConfig {
  DataConfig data;
  VocabularyConfig vocabulary;
  /// The model directory to fine-tune (weights, tokenizer, configuration), with `lora` also a GGUF
  /// file. Empty: new weights.
  std::string from;
  model::ModelConfig model;
  OptimizerConfig optimizer;
  LoraConfig lora;
  PreferenceConfig preference;
  GuidedAlignmentConfig guided_alignment;
  ClassifyConfig classify;
  RerankConfig rerank;
  EmbedConfig embed;
  RunConfig run;
  DistributedConfig distributed;
  ValidationConfig validation;

  /// Makes every check that does not need the text. Throws Error on values out of range, on keys
  /// that contradict each other, on a model whose stacks do not match the task or that its family's
  /// files cannot describe, and on strings that config.toml cannot hold.
  void validate() const;

  /// The maximum length of a language model's windows in tokens: run.context, or, when that is 0,
  /// as many as fit both the model's positions and a batch.
  int64_t window_tokens() const;
};

/// The names of the built-in presets: "tiny", "small", "base", "big", ...
std::vector<std::string> preset_names();
/// The TOML text of a preset. Throws Error when there is no such preset.
std::string preset(const std::string& name);

/// Whether read_toml() accepts keys that were renamed: the config.toml of runs of version 0.1 has
/// them.
enum class FormerKeys { refused, accepted };
/// Reads TOML into `config`; keys that are missing keep their value. Throws Error with the line of
/// a syntax error, an unknown key (naming the nearest known one), a renamed key (naming the new
/// one), or a value of the wrong type.
void read_toml(TrainConfig& config, const std::string& text, const std::string& file,
               FormerKeys former = FormerKeys::refused);
/// Applies an assignment "section.key=value". The value is in TOML syntax (`3`, `true`, `"text"`)
/// or a bare word. Errors name the option.
void set_field(TrainConfig& config, const std::string& assignment,
               std::string_view option = "--set");
/// The whole configuration as TOML, with a comment on each key.
std::string write_toml(const TrainConfig& config);

/// Throws Error, naming the key, unless every field can be read back as written: strings must be
/// UTF-8.
void check_written_fields(const TrainConfig& config);

/// Throws Error, naming the key, unless a run with configuration `saved` (read from `file`) may be
/// resumed with `requested`. They may differ in when the run ends ([run] max_steps,
/// num_train_epochs, minutes), in distributed.timeout, distributed.backend and in [validation].
void require_same_run(const TrainConfig& saved, const TrainConfig& requested,
                      const std::string& file);

}  // namespace heed::train
