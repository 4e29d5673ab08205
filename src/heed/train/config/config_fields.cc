// The keys of a training configuration: names, types and help.
#include "heed/train/config/config_fields.h"

#include <array>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/names.h"
#include "heed/model/config_fields.h"
#include "heed/train/config/corpus_fields.h"
#include "heed/train/config/toml_values.h"

namespace heed::train {
namespace {

template <typename T>
void add(std::vector<Field>& all, std::string key, T& value, std::string help) {
  all.push_back({key, std::move(help),
                 [key, &value](const toml::node& node) { read_value(key, node, value); },
                 [&value] { return literal(value); }});
}

/// The one of `values` with this name. Throws Error that begins with the key.
template <typename Values>
auto value_named(const std::string& key, const std::string& name, const Values& values) {
  try {
    return named(name, values);
  } catch (const Error& error) {
    fail("{}: {}", key, error.what());
  }
}

/// Adds a field whose value is one of `values`, an array or a span.
template <typename Enum, typename Values>
void add(std::vector<Field>& all, std::string key, Enum& value, const Values& values,
         std::string help) {
  const auto read = [key, &value, values](const toml::node& node) {
    std::string name;
    read_value(key, node, name);
    value = value_named(key, name, values);
  };
  all.push_back(
      {key, std::move(help), read, [&value] { return literal(std::string(name_of(value))); }});
}

/// "help: a, b or c".
template <typename Values>
std::string with_choices(const char* help, const Values& values) {
  std::string text = fmt::format("{}: ", help);
  for (size_t i = 0; i < values.size(); ++i)
    text += fmt::format("{}{}",
                        i == 0                   ? ""
                        : i + 1 == values.size() ? " or "
                                                 : ", ",
                        name_of(values[i]));
  return text;
}

/// Adds a list of poolings, of which one alone may be given without a list.
void add_poolings(std::vector<Field>& all, std::string key, std::vector<Pooling>& value) {
  constexpr std::array kPoolings{Pooling::mean, Pooling::cls,
                                 Pooling::max,  Pooling::mean_sqrt_len_tokens,
                                 Pooling::last, Pooling::weightedmean};
  const auto read = [key, &value, kPoolings](const toml::node& node) {
    std::vector<std::string> names(1);
    if (node.is_string())
      read_value(key, node, names.front());
    else
      read_value(key, node, names);
    value.clear();
    for (const std::string& name : names) value.push_back(value_named(key, name, kPoolings));
  };
  const auto write = [&value] {
    std::vector<std::string> names;
    for (const Pooling pooling : value) names.emplace_back(name_of(pooling));
    return literal(names);
  };
  all.push_back(
      {key,
       with_choices(
           "how states become the vector; []: as the model's files say, else one or more of",
           kPoolings),
       read, write});
}

/// Adds a list of corpora: tables like the keys of a single one.
void add(std::vector<Field>& all, std::string key, std::vector<data::Corpus>& value,
         std::string help) {
  const auto read = [key, &value](const toml::node& node) { value = read_corpora(key, node); };
  all.push_back({key, std::move(help), read, [&value] { return literal_of(value); }});
}

void add_data_fields(TrainConfig& c, std::vector<Field>& f) {
  add(f, "data.source", c.data.source, "source text, one sentence per line");
  add(f, "data.target", c.data.target, "its translation, line by line");
  add(f, "data.tsv", c.data.tsv, "or one file: source, tab, target");
  add(f, "data.alignments", c.data.alignments,
      "links of words for each pair of the training text, as 0-0 1-2: one head learns them");
  add(f, "data.source_language", c.data.source_language,
      "code of the source's language (default: the file's extension)");
  add(f, "data.target_language", c.data.target_language, "and of the target's");
  add(f, "data.corpora", c.data.corpora,
      "several texts in place of one: tables of source, target or tsv, and alignments, "
      "source_language, target_language, weight");
  add(f, "data.temperature", c.data.temperature,
      "corpora without weights are drawn in proportion to their sizes to the power of 1 / this");
  constexpr std::array kTags{LanguageTags::none, LanguageTags::target, LanguageTags::both};
  add(f, "data.languages", c.data.languages, kTags,
      with_choices("which languages' tokens a source begins with", kTags));
  add(f, "data.valid_source", c.data.valid_source, "source text for validation");
  add(f, "data.valid_target", c.data.valid_target, "its translation");
  add(f, "data.valid_corpora", c.data.valid_corpora,
      "several texts for validation in place of one: tables as in data.corpora");
  add(f, "data.text", c.data.text, "text of a language model: a file or a folder");
  add(f, "data.valid_text", c.data.valid_text, "validation text of a language model");
  constexpr std::array kEnds{data::DocumentEnd::file, data::DocumentEnd::line,
                             data::DocumentEnd::blank_line};
  add(f, "data.document", c.data.document, kEnds, with_choices("what ends a document", kEnds));
  add(f, "data.held_out", c.data.held_out,
      "pairs or windows (at most a tenth) held out when no validation text is given");
  add(f, "data.max_tokens", c.data.max_tokens, "longer sentences are dropped");
  add(f, "data.max_ratio", c.data.max_ratio,
      "pairs are dropped if one side is more than this many times longer");
  data::TextLimits& limits = c.data.text_limits;
  add(f, "data.drop_copied", limits.drop_copied, "pairs are dropped whose sides are the same");
  add(f, "data.drop_duplicates", limits.drop_duplicates, "and pairs that came before");
  add(f, "data.drop_mojibake", limits.drop_mojibake,
      "and pairs with text that was decoded as another encoding than its own");
  add(f, "data.min_language_probability", limits.min_language_probability,
      "and pairs with a side that heed detect gives its language less than this; 0: not asked");
  add(f, "data.drop_least_aligned", c.data.drop_least_aligned,
      "and this share of each corpus whose tokens translate each other least, by IBM model 1");
  add(f, "vocabulary.kind", c.vocabulary.kind, "bpe or unigram (SentencePiece)");
  add(f, "vocabulary.size", c.vocabulary.size, "pieces, shared by both languages");
  add(f, "vocabulary.model", c.vocabulary.model,
      "an existing SentencePiece model to use instead of a new one");
  add(f, "vocabulary.word_vectors", c.vocabulary.word_vectors,
      "word2vec file (text or binary) that initialises the embeddings");
}

void add_model_fields(TrainConfig& c, std::vector<Field>& f) {
  add(f, "model.from", c.from, "a model directory to fine-tune");
  model::visit_fields(c.model, [&](const char* name, auto& value, const char* help) {
    using T = std::remove_cvref_t<decltype(value)>;
    std::string key = fmt::format("model.{}", name);
    if constexpr (std::is_enum_v<T>)
      add(f, std::move(key), value, model::values_of<T>(),
          with_choices(help, model::values_of<T>()));
    else
      add(f, std::move(key), value, help);
  });
}

void add_optimizer_fields(TrainConfig& c, std::vector<Field>& f) {
  OptimizerConfig& o = c.optimizer;
  constexpr std::array kOptimizers{OptimizerKind::adam, OptimizerKind::muon, OptimizerKind::soap,
                                   OptimizerKind::schedule_free};
  add(f, "optimizer.name", o.name, kOptimizers,
      "adam, muon or soap (linear maps; adam for the rest), schedule_free");
  add(f, "optimizer.learning_rate", o.learning_rate, "peak");
  constexpr std::array kSchedules{ScheduleKind::inverse_sqrt, ScheduleKind::cosine,
                                  ScheduleKind::linear, ScheduleKind::constant};
  add(f, "optimizer.lr_scheduler_type", o.lr_scheduler_type, kSchedules,
      "inverse_sqrt (the paper), cosine, linear or constant");
  add(f, "optimizer.warmup_steps", o.warmup_steps, "steps of linear warmup");
  add(f, "optimizer.warmup_ratio", o.warmup_ratio,
      "linear warmup for this fraction of all steps in place of warmup_steps; 0: "
      "warmup_steps");
  add(f, "optimizer.min_lr_rate", o.min_lr_rate,
      "last learning rate of cosine and linear, as a fraction of the peak");
  add(f, "optimizer.adam_beta1", o.adam_beta1, "decay of Adam's first moment");
  add(f, "optimizer.adam_beta2", o.adam_beta2, "decay of Adam's second moment");
  add(f, "optimizer.adam_epsilon", o.adam_epsilon, "added to the denominator of Adam's step");
  add(f, "optimizer.muon_momentum", o.muon_momentum, "decay of Muon's momentum");
  add(f, "optimizer.muon_iterations", o.muon_iterations,
      "of Newton and Schulz, per step: fewer are faster and less exact");
  add(f, "optimizer.soap_beta1", o.soap_beta1, "decay of SOAP's first moment");
  add(f, "optimizer.soap_beta2", o.soap_beta2,
      "decay of SOAP's second moment and of the matrices L and R");
  add(f, "optimizer.soap_frequency", o.soap_frequency,
      "steps after which SOAP renews the eigenvectors of L and R");
  add(f, "optimizer.soap_max_dim", o.soap_max_dim,
      "sides of a matrix that are longer have no eigenvectors with SOAP");
  add(f, "optimizer.weight_decay", o.weight_decay, "decoupled (AdamW), on matrices and embeddings");
  add(f, "optimizer.max_grad_norm", o.max_grad_norm,
      "clip the gradient to this norm; 0: no clipping");
  add(f, "optimizer.label_smoothing_factor", o.label_smoothing_factor, "0.1 in the paper");
  add(f, "optimizer.skip_outliers", o.skip_outliers,
      "skip a step whose loss or gradient norm is more than this many standard "
      "deviations above the recent mean; 0: never");
}

void add_lora_fields(TrainConfig& c, std::vector<Field>& f) {
  add(f, "lora.enabled", c.lora.enabled, "train an adapter of model.from instead of its weights");
  add(f, "lora.rank", c.lora.rank, "r: rows of A, columns of B");
  add(f, "lora.alpha", c.lora.alpha, "updates are multiplied by alpha / rank");
  add(f, "lora.use_rslora", c.lora.use_rslora, "by alpha / sqrt(rank) instead");
  add(f, "lora.dropout", c.lora.dropout, "of the input of the updates");
  add(f, "lora.target_modules", c.lora.target_modules,
      "all-linear, names (q_proj,v_proj) or a regular expression for whole names");
  add(f, "lora.layers", c.lora.layers, "numbers of the adapted layers; []: all");
}

void add_preference_fields(TrainConfig& c, std::vector<Field>& f) {
  add(f, "preference.beta", c.preference.beta,
      "of DPO: the larger, the nearer the model stays to the reference");
}

void add_label_fields(TrainConfig& c, std::vector<Field>& f) {
  add(f, "classify.labels", c.classify.labels,
      "labels of the tasks classify and tag, in their order; []: those of the model or the text");
  add(f, "classify.multi_label", c.classify.multi_label, "a text has any number of labels");
  add(f, "classify.class_weights", c.classify.class_weights,
      "a weight for each label, in their order; []: all 1");
  add(f, "classify.balance", c.classify.balance,
      "weights by which all labels count alike, from their numbers in the training text");
  constexpr std::array kLosses{RerankLoss::binary_cross_entropy, RerankLoss::squared_error,
                               RerankLoss::margin_mse};
  add(f, "rerank.loss", c.rerank.loss, kLosses,
      with_choices("of the scores of pairs; of the first, scores are sigmoids", kLosses));
}

void add_embed_fields(TrainConfig& c, std::vector<Field>& f) {
  using enum data::VectorLoss;
  constexpr std::array kLosses{infonce,    cosine,        cosent, triplet,
                               margin_mse, kl_divergence, distill};
  constexpr std::array kVectors{EmbedVectors::model, EmbedVectors::dense, EmbedVectors::sparse,
                                EmbedVectors::multi_vector};
  add(f, "embed.vectors", c.embed.vectors, kVectors,
      with_choices("what a text becomes; model: as its files say, else dense", kVectors));
  add(f, "embed.loss", c.embed.loss, kLosses, with_choices("of the vectors", kLosses));
  add(f, "embed.scale", c.embed.scale,
      "factor of scores in infonce and cosent; 0: 20 of cosines, 1 of dot products and MaxSim");
  add(f, "embed.margin", c.embed.margin, "of triplet");
  add(f, "embed.temperature", c.embed.temperature,
      "of kl-divergence: scores are divided by it before the softmax");
  add(f, "embed.teacher_temperature", c.embed.teacher_temperature,
      "and those of the teacher; 0: embed.temperature");
  add(f, "embed.query_flops", c.embed.query_flops,
      "of sparse vectors: weight of the FLOPS of queries in the loss, which makes them sparser");
  add(f, "embed.document_flops", c.embed.document_flops, "and of documents");
  add(f, "embed.token_dims", c.embed.token_dims,
      "of multi-vector: numbers of the vector of a token, of a new projection");
  add(f, "embed.query_expansion", c.embed.query_expansion,
      "of multi-vector: queries are filled up to so many tokens; 0: as the model's files say");
  add(f, "embed.skip_punctuation", c.embed.skip_punctuation,
      "of multi-vector: punctuation in documents has no vectors; false: as the model's files say");
  constexpr std::array kDistances{data::Distance::cosine, data::Distance::euclidean};
  add(f, "embed.distance", c.embed.distance, kDistances, with_choices("of triplet", kDistances));
  add(f, "embed.matryoshka_dims", c.embed.matryoshka_dims,
      "Matryoshka: the loss of the first numbers of each vector is added, for each of these");
  add(f, "embed.matryoshka_weights", c.embed.matryoshka_weights,
      "weights of these losses; []: all 1");
  add_poolings(f, "embed.pooling", c.embed.pooling);
  add(f, "embed.hard_negatives", c.embed.hard_negatives,
      "so many documents that model.from finds nearest to a query become its negatives; 0: none");
  add(f, "embed.hard_negative_ratio", c.embed.hard_negative_ratio,
      "those whose cosine is at most this times that of the query's own document");
  add(f, "embed.query_prompt", c.embed.query_prompt,
      "before each query, and saved with the model; \"\": the model's own");
  add(f, "embed.document_prompt", c.embed.document_prompt, "and before each document");
}

void add_distributed_fields(TrainConfig& c, std::vector<Field>& f) {
  add(f, "distributed.leaves", c.distributed.leaves,
      "microbatches of a step, which ranks add in a fixed order, a power of two; "
      "0: at least 8 with several ranks, otherwise 1");
  add(f, "distributed.timeout", c.distributed.timeout,
      "seconds to wait for another rank before the run ends");
  add(f, "distributed.backend", c.distributed.backend,
      "mpi, or nccl: large messages travel from GPU to GPU");
}

void add_guided_alignment_fields(TrainConfig& c, std::vector<Field>& f) {
  add(f, "guided_alignment.weight", c.guided_alignment.weight,
      "of the loss of one head's cross-attention against data.alignments");
}

void add_run_fields(TrainConfig& c, std::vector<Field>& f) {
  constexpr std::array kTasks{TaskKind::translation, TaskKind::text_to_text, TaskKind::causal_lm,
                              TaskKind::masked_lm,   TaskKind::chat,         TaskKind::preference,
                              TaskKind::classify,    TaskKind::score,        TaskKind::rerank,
                              TaskKind::tag,         TaskKind::embed};
  add(f, "run.task", c.run.task, kTasks, with_choices("what is trained", kTasks));
  add(f, "run.seed", c.run.seed, "same seed, same bits");
  add(f, "run.compute", c.run.compute, "f32, bf16, or auto: bf16 where it is fast");
  add(f, "run.quantization_aware", c.run.quantization_aware,
      "products round weights and inputs as int8 inference does, for the last steps of a model");
  add(f, "run.token_budget", c.run.token_budget,
      "tokens per batch, of source or target, whichever are more");
  add(f, "run.context", c.run.context,
      "tokens per window of a language model; 0: as many as fit model and batch");
  add(f, "run.gradient_accumulation_steps", c.run.gradient_accumulation_steps,
      "batches per optimizer step");
  add(f, "run.max_steps", c.run.max_steps, "end after this many steps; 0: no limit");
  add(f, "run.num_train_epochs", c.run.num_train_epochs, "end after this many epochs; 0: no limit");
  add(f, "run.minutes", c.run.minutes,
      "end after this time, with a schedule planned to fit; 0: no limit");
  add(f, "run.min_steps", c.run.min_steps,
      "with minutes: batches get smaller, at most by half, where fewer steps would "
      "fit; 0: never");
  add(f, "run.average", c.run.average,
      "average this many last checkpoints; kept if it scores best; 0: none");
  add(f, "run.average_window", c.run.average_window,
      "only checkpoints of this last fraction of all steps");
  add(f, "validation.eval_steps", c.validation.eval_steps, "steps between validations");
  add(f, "validation.sentences", c.validation.sentences, "sentences translated for BLEU and chrF");
  add(f, "validation.num_beams", c.validation.num_beams, "number of beams for these translations");
  add(f, "validation.samples", c.validation.samples, "samples shown per validation");
  add(f, "validation.early_stopping_patience", c.validation.early_stopping_patience,
      "stop after this many validations without a better score; 0: never");
}

}  // namespace

std::vector<Field> fields(TrainConfig& config) {
  std::vector<Field> all;
  add_data_fields(config, all);
  add_model_fields(config, all);
  add_optimizer_fields(config, all);
  add_lora_fields(config, all);
  add_preference_fields(config, all);
  add_guided_alignment_fields(config, all);
  add_label_fields(config, all);
  add_embed_fields(config, all);
  add_run_fields(config, all);
  add_distributed_fields(config, all);
  return all;
}

}  // namespace heed::train
