#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/chat/chat_template.h"
#include "heed/document/sentences/sentence_settings.h"
#include "heed/engine/adapters.h"
#include "heed/engine/output_constraints.h"
#include "heed/engine/value_or_error.h"
#include "heed/generate/confidence/calibration.h"
#include "heed/generate/generation_config.h"
#include "heed/generate/generator.h"
#include "heed/generate/shortlist.h"
#include "heed/generate/speculation/draft_lengths.h"
#include "heed/generate/token_joints.h"
#include "heed/inspect/attention/attention_input.h"
#include "heed/load_options.h"
#include "heed/model.h"
#include "heed/model/transformer.h"
#include "heed/tasks/embedder.h"
#include "heed/tasks/text_classifier.h"
#include "heed/tensor/device.h"
#include "heed/text/model_tokenizer.h"

namespace heed::gpu {
class Gpu;
}

namespace heed::engine {

/// The contents of a Model. Nothing that results depend on changes after loading.
struct LoadedModel {
  std::filesystem::path path;
  LoadOptions options;
  std::shared_ptr<Executor> executor;  // never null
  Device* device = nullptr;            // where it computes; null: on the host
  std::unique_ptr<const model::Transformer> transformer;
  LoadedAdapters adapters;
  std::unique_ptr<const model::Transformer> draft;  // of SpeculationOptions::draft; or null
  DType draft_activations = DType::f32;
  /// Statistics of drafts, which all calls share; null without speculation.
  std::shared_ptr<generate::DraftLengths> draft_lengths;
  // Read while the model is loaded; a file that cannot be read matters only to those who need it.
  ValueOrError<text::ModelTokenizer> tokenizer;
  ValueOrError<generate::GenerationConfig> generation;
  ValueOrError<tasks::EmbedderOptions> embedding;
  ValueOrError<std::shared_ptr<const tasks::Embedder>> default_embedder;  // of EmbedOptions()
  ValueOrError<chat::ChatTemplates> chat_templates;
  ValueOrError<tasks::TextSettings> text_settings;
  ValueOrError<tasks::PairSettings> pair_settings;
  ValueOrError<document::SentenceSettings> sentences;
  ValueOrError<generate::ConfidenceCalibrations> confidence;
  std::shared_ptr<const generate::Shortlist> shortlist;  // of LoadOptions; or null
  std::vector<std::string> warnings;                     // see Model::warnings()
  OutputConstraints output_constraints;
  mutable std::once_flag token_joints_once;
  mutable std::shared_ptr<const generate::TokenJoints> token_joints_value;

  /// The one tokenizer for all texts. Throws Error, which names the `purpose` ("embedding"), when
  /// each side has its own vocabulary, and as tokenizer.value() does.
  const text::Tokenizer& shared_tokenizer(std::string_view purpose) const;
  bool has_shared_tokenizer() const;
  /// The tokenizer of a translator; null for other models.
  const text::TranslationTokenizer* translation_tokenizer() const;
  /// Between which target tokens of a translator no word ends. Computed when it is first asked for.
  std::shared_ptr<const generate::TokenJoints> token_joints() const;
  /// The tokenizer that decodes outputs; none if the model has none for prompts and outputs alike.
  std::optional<text::Tokenizer> output_tokenizer() const;
  /// A hypothesis with its text; without, if the model has no tokenizer.
  Candidate candidate_of(Hypothesis hypothesis) const;

  /// The GPU on which it computes; null: the CPU.
  const gpu::Gpu* gpu() const;
  DType activations() const;
  /// The type of the kv cache that LoadOptions asks for, if any.
  std::optional<DType> cache() const;
  /// "decoder-only", "encoder-only" or "an encoder-decoder".
  std::string_view kind() const;
  ModelTasks tasks() const;
  /// See Model::require_task().
  void require_task(bool ModelTasks::*task) const;
  /// Throws Error, which says what the model can do instead.
  [[noreturn]] void refuse_task(bool ModelTasks::*task) const;
  /// Refuses the task `generate` unless the model has a decoder that predicts tokens.
  void require_generates() const;

  /// The token ids of a prompt, checked to be UTF-8; the beginning-of-sequence token for an empty
  /// text.
  std::vector<int32_t> tokens_of(const Prompt& prompt) const;
  /// GenerateOptions completed by generation_config.json and by how the model was loaded. Throws
  /// Error on numbers that are out of range.
  generate::GeneratorOptions generator_options(const GenerateOptions& asked) const;
  /// EmbedOptions completed by the model's files. Throws Error on numbers out of range and on a
  /// prompt_name that the files do not have.
  tasks::EmbedderOptions embedder_options(const EmbedOptions& asked) const;
  /// What an embedder with these options reads of a text.
  tasks::TextReader text_reader(const EmbedOptions& asked) const;
  /// An embedder with these options, completed by the model's files. Throws Error as Model::embed()
  /// does.
  std::shared_ptr<const tasks::Embedder> embedder(const EmbedOptions& asked = {}) const;
  /// Makes one, also for the default options.
  std::shared_ptr<const tasks::Embedder> make_embedder(const EmbedOptions& asked) const;
  /// The inputs of both stacks, as for Model::attention().
  inspect::ModelInput attention_input(const std::string& text, const AttentionOptions& asked) const;
};

/// Throws Error unless `value` is `min` to 2^31, so that sums and products of it fit 64 bits.
void check_count(std::string_view name, int64_t value, int64_t min = 1);

/// Throws Error unless all are UTF-8, naming the first that is not: `kind` ("text") and its number.
void require_utf8_texts(const std::vector<std::string>& texts, const char* kind,
                        int64_t first_number);

/// Loads everything; the tokenizer on another thread.
std::shared_ptr<const LoadedModel> load(const std::filesystem::path& path,
                                        const LoadOptions& options);

/// The parts of a model, for the program and for Session.
const LoadedModel& loaded(const Model& model);

}  // namespace heed::engine
