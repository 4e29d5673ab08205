#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/data/documents.h"
#include "heed/model/config.h"
#include "heed/train/schedule.h"

namespace heed::train {

/// What a model learns to do.
enum class TaskKind {
  translation,   // Marian's tokenizer: a model that `heed translate` runs
  text_to_text,  // the same with whatever tokenizer the encoder-decoder has (T5, BART)
  causal_lm,     // to predict the next token: a decoder alone (Llama, GPT-2)
  masked_lm      // to predict hidden tokens: an encoder alone (BERT)
};

/// "translation", "text-to-text", "causal-lm" or "masked-lm".
std::string_view name_of(TaskKind kind);

struct DataConfig {
  std::string source, target;              // one sentence a line; line i translates line i
  std::string tsv;                         // or one file: source, tab, target
  std::string valid_source, valid_target;  // none: taken from the training text, and left out of it
  std::string text, valid_text;            // of language models: a file, or a folder of files
  data::DocumentEnd document = data::DocumentEnd::file;
  int64_t held_out = 500;    // how many pairs or windows are taken for validation, at most a tenth
  int64_t max_tokens = 200;  // longer sentences are dropped
  double max_ratio = 5.0;    // and pairs with one side this many times longer
};

struct VocabularyConfig {
  std::string kind = "bpe";  // or unigram
  int64_t size = 4000;       // pieces, of both languages together
  std::string model;         // an existing SentencePiece model instead of training one
  std::string word_vectors;  // word2vec text or binary file that embeddings start from
};

struct OptimizerConfig {
  double learning_rate = 1e-3;  // the peak
  ScheduleKind schedule = ScheduleKind::inverse_sqrt;
  int64_t warmup = 4000;  // steps
  double final_rate = 0;  // where cosine and linear end, as a share of the peak
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9;
  double weight_decay = 0.0;
  double clip = 1.0;  // greatest norm of the gradient; 0: no limit
  double label_smoothing = 0.1;
  /// A step whose loss or gradient norm lies this many deviations above the recent mean is skipped.
  double skip_outliers = 8.0;  // 0: none is skipped
};

struct RunConfig {
  TaskKind task = TaskKind::translation;
  uint64_t seed = 1;
  std::string compute = "auto";  // f32, bf16, or bf16 where the machine is fast at it
  int64_t token_budget = 4096;   // source or target tokens of one batch, whichever are more
  int64_t context = 0;           // tokens of a language model's windows; 0: see window_tokens()
  int64_t accumulation = 1;      // batches a step
  int64_t steps = 0;             // 0: no limit
  int64_t epochs = 0;            // 0: no limit
  double minutes = 0;   // 0: no limit; else the number of steps that fits is planned early on
  int64_t average = 5;  // checkpoints whose mean is tried as the final model
};

struct ValidationConfig {
  int64_t every = 500;      // steps
  int64_t sentences = 200;  // that are translated for BLEU and chrF
  int64_t beam = 1;
  int64_t samples = 4;   // shown
  int64_t patience = 0;  // validations without a better score until the run stops; 0: never
};

/// A whole training run. Everything here has a key in the TOML file (config_fields below).
struct TrainConfig {
  DataConfig data;
  VocabularyConfig vocabulary;
  /// A model directory to fine-tune: its weights, tokenizer and configuration. Empty: new weights.
  std::string from;
  model::ModelConfig model;
  OptimizerConfig optimizer;
  RunConfig run;
  ValidationConfig validation;

  /// Throws Error on everything that can be told before text is read: values that no run can have,
  /// keys that do not go together, a model whose stacks are not those of the task, or that the
  /// files of its family cannot describe, and text that config.toml cannot hold.
  void validate() const;

  /// The longest window of a language model's text: run.context, or what the model reads at most,
  /// but not more than fits into a batch.
  int64_t window_tokens() const;
};

/// The names of the built-in presets: "tiny", "small", "base", "big", ...
std::vector<std::string> preset_names();
/// The TOML text of one; throws Error when there is no such preset.
std::string preset(const std::string& name);

/// Reads TOML over `config`: keys that are not there keep their value. Throws Error with the line
/// of a syntax error, of an unknown key (with the nearest known one), of a key that was renamed
/// (with its new name, unless such keys are accepted: runs of version 0.1 have them in their
/// config.toml), of a value of the wrong type.
enum class FormerKeys { refused, accepted };
void read_toml(TrainConfig& config, const std::string& text, const std::string& file,
               FormerKeys former = FormerKeys::refused);
/// Sets "section.key" from a TOML value such as `3`, `true`, `"text"`, or a bare word.
void set_field(TrainConfig& config, const std::string& assignment);
/// The whole configuration as TOML with a comment to each key.
std::string write_toml(const TrainConfig& config);

/// Throws Error, naming the key, unless every field reads as it was written: text is UTF-8.
void check_written_fields(const TrainConfig& config);

/// Throws Error, naming the keys, unless a run of `saved` (read from `file`) can go on as `asked`:
/// only where it ends ([run] steps, epochs, minutes) and what it tells on the way ([validation])
/// may differ.
void require_same_run(const TrainConfig& saved, const TrainConfig& asked, const std::string& file);

}  // namespace heed::train
