#include "heed/train/config/config.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "heed/text/language_codes.h"

namespace heed::train {

std::string_view name_of(TaskKind kind) {
  switch (kind) {
    case TaskKind::translation:
      return "translation";
    case TaskKind::text_to_text:
      return "text-to-text";
    case TaskKind::causal_lm:
      return "causal-lm";
    case TaskKind::masked_lm:
      return "masked-lm";
    case TaskKind::chat:
      return "chat";
    case TaskKind::preference:
      return "preference";
    case TaskKind::classify:
      return "classify";
    case TaskKind::score:
      return "score";
    case TaskKind::rerank:
      return "rerank";
    case TaskKind::tag:
      return "tag";
    case TaskKind::embed:
      return "embed";
  }
  return "?";
}

std::string_view name_of(EmbedVectors vectors) {
  switch (vectors) {
    case EmbedVectors::model:
      return "model";
    case EmbedVectors::dense:
      return "dense";
    case EmbedVectors::sparse:
      return "sparse";
    case EmbedVectors::multi_vector:
      return "multi-vector";
  }
  return "?";
}

std::string_view name_of(RerankLoss loss) {
  switch (loss) {
    case RerankLoss::binary_cross_entropy:
      return "binary-cross-entropy";
    case RerankLoss::squared_error:
      return "squared-error";
    case RerankLoss::margin_mse:
      return "margin-mse";
  }
  return "?";
}

std::string_view name_of(LanguageTags tags) {
  switch (tags) {
    case LanguageTags::none:
      return "none";
    case LanguageTags::target:
      return "target";
    case LanguageTags::both:
      return "both";
  }
  return "?";
}

std::vector<data::Corpus> training_corpora(const DataConfig& data) {
  if (!data.corpora.empty()) return data.corpora;
  return {{.source = data.source,
           .target = data.target,
           .tsv = data.tsv,
           .alignments = data.alignments,
           .source_language = data.source_language,
           .target_language = data.target_language}};
}

bool has_alignments(const DataConfig& data) {
  return std::ranges::any_of(training_corpora(data),
                             [](const data::Corpus& corpus) { return !corpus.alignments.empty(); });
}

std::vector<data::Corpus> validation_corpora(const DataConfig& data) {
  if (data.valid_source.empty()) return data.valid_corpora;
  return {{.source = data.valid_source,
           .target = data.valid_target,
           .source_language = data.source_language,
           .target_language = data.target_language}};
}

text::LanguagePair languages_of(const data::Corpus& corpus) {
  const auto of = [](const std::string& named, const std::string& file) {
    if (!named.empty() || file.empty()) return named;
    const std::string extension = std::filesystem::path(file).extension().string();
    return extension.empty() ? extension : extension.substr(1);
  };
  return {of(corpus.source_language, corpus.source), of(corpus.target_language, corpus.target)};
}

text::LanguagePair identified_languages(const data::Corpus& corpus) {
  const auto code_of = [](const std::string& language) {
    const std::string code = text::short_language(language);
    return code.substr(0, code.find('-'));
  };
  const text::LanguagePair languages = languages_of(corpus);
  return {code_of(languages.source), code_of(languages.target)};
}

bool reads_pairs(TaskKind kind) {
  return kind == TaskKind::translation || kind == TaskKind::text_to_text;
}

bool gives_labels(TaskKind kind) {
  return kind == TaskKind::classify || kind == TaskKind::score || kind == TaskKind::rerank ||
         kind == TaskKind::tag;
}

int64_t DistributedConfig::microbatches_on(int ranks) const {
  if (leaves > 0) return leaves;
  return ranks == 1 ? 1 : std::max<int64_t>(8, std::bit_ceil(static_cast<uint64_t>(ranks)));
}

Schedule OptimizerConfig::schedule(int64_t last_step) const {
  Schedule schedule{lr_scheduler_type, learning_rate, warmup_steps, last_step, min_lr_rate};
  if (warmup_ratio > 0)
    // Until the last step is known, a step is far from the end of the warmup.
    schedule.warmup = last_step > 0 ? std::llround(warmup_ratio * static_cast<double>(last_step))
                                    : std::numeric_limits<int64_t>::max();
  return schedule;
}

int64_t TrainConfig::window_tokens() const {
  return run.context > 0 ? run.context : std::min(model.max_positions, run.token_budget);
}

}  // namespace heed::train
