#include "heed/engine/loaded_model.h"

#include <algorithm>
#include <future>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/parallel.h"
#include "heed/base/quote.h"
#include "heed/engine/detected_source.h"
#include "heed/engine/device_choice.h"
#include "heed/engine/load.h"
#include "heed/engine/speculation.h"
#include "heed/gpu/gpu.h"
#include "heed/tasks/qwen3_reranker.h"
#include "heed/tasks/task_options.h"
#include "heed/text/utf8.h"

namespace heed::engine {
namespace {

using generate::SamplingUse;

chat::ChatTemplates chat_templates(const io::ModelFiles& files, const text::Tokenizer& tokenizer) {
  const std::filesystem::path& path = files.path();
  if (!files.is_gguf()) return {path, tokenizer};
  return {chat::read_gguf_chat_templates(files.gguf()->metadata(), path.string()), path, tokenizer};
}

/// Greedy decoding unless an option asks for sampling.
generate::SamplingOptions sampling_of(const GenerateOptions& options,
                                      const generate::GenerationConfig& suggested) {
  bool sample = options.sample;
  generate::for_each_sampling_option([&](const auto& option) {
    sample |= option.use == SamplingUse::samples && option.asked(options);
  });
  if (sample) require(suggested.sampling_refusal.empty(), "{}", suggested.sampling_refusal);
  generate::SamplingOptions sampling;
  generate::for_each_sampling_option([&](const auto& option) {
    if (sample || option.use != SamplingUse::samples)
      sampling.*option.resolved =
          option.asked(options).value_or(suggested.sampling.*option.resolved);
  });
  sampling.logit_bias = options.logit_bias;
  sampling.seed = options.seed;
  return sampling;
}

std::shared_ptr<const generate::Shortlist> read_shortlist(const LoadedModel& model) {
  const std::filesystem::path& path = model.options.shortlist;
  if (path.empty()) return nullptr;
  const text::TranslationTokenizer* tokenizer = model.tokenizer.value().translation_tokenizer();
  require(tokenizer && model.transformer->has_encoder() && model.transformer->has_decoder(),
          "{} is no translator, and {} is a shortlist for one", model.path.string(), path.string());
  return std::make_shared<const generate::Shortlist>(
      generate::Shortlist::read(path, *tokenizer, model.transformer->config().vocab_size));
}

/// The warnings of all files that were read.
std::vector<std::string> warnings_of(const LoadedModel& model) {
  std::vector<std::string> all;
  const auto add = [&](const std::vector<std::string>& some) {
    for (const std::string& warning : some)
      if (std::ranges::find(all, warning) == all.end()) all.push_back(warning);
  };
  add(model.transformer->config().warnings);
  if (model.draft) add(model.draft->config().warnings);
  if (model.tokenizer.has_value()) {
    add(model.tokenizer.value().warnings());
    add(vocabulary_warnings(model.path, model.tokenizer.value(), *model.transformer));
  }
  if (model.generation.has_value()) add(model.generation.value().warnings);
  add(model.adapters.warnings());
  if (model.embedding.has_value()) add(model.embedding.value().warnings);
  const bool answers = model.pair_settings.has_value() && model.pair_settings.value().logit_score;
  if (!answers && !model.transformer->config().classifier.present()) return all;
  if (model.text_settings.has_value()) add(model.text_settings.value().warnings);
  if (model.pair_settings.has_value()) add(model.pair_settings.value().warnings);
  return all;
}

}  // namespace

void check_count(std::string_view name, int64_t value, int64_t min) {
  constexpr int64_t kMaxCount = int64_t{1} << 31;
  require_input(value >= min && value <= kMaxCount, "{} is {}, expected {} to {}", name, value, min,
                kMaxCount);
}

namespace {

/// "cpu" for a model that computes there alone. Throws Error when a GPU is asked for by name.
std::string_view device_of(const std::string& device, const model::ModelConfig& config) {
  if (!config.disentangled.present()) return device;
  const DeviceChoice choice = parse_device(device);
  require_input(choice.cpu || choice.automatic,
                "device is {}, expected cpu or auto: disentangled attention (DeBERTa) computes on "
                "the CPU alone",
                quoted(device));
  return "cpu";
}

}  // namespace

void require_utf8_texts(const std::vector<std::string>& texts, const char* kind,
                        int64_t first_number) {
  check_count("first_number", first_number);
  for (size_t i = 0; i < texts.size(); ++i)
    name_input(kind, first_number + static_cast<int64_t>(i),
               [&] { text::require_utf8(texts[i], "the text"); });
}

std::shared_ptr<const LoadedModel> load(const std::filesystem::path& path,
                                        const LoadOptions& options) {
  auto result = std::make_shared<LoadedModel>();
  result->path = path;
  result->options = options;
  result->executor = options.executor ? options.executor : Executor::shared();
  const ExecutorScope scope(*result->executor);
  const io::ModelFiles files(path);
  checkpoint::OpenedModel opened = open_model(files, options);
  const LoadOptions on_device = options_on_device(opened, options);
  // Ranks that divide a model have parts on the CPU.
  if (!options.parts || !parse_device(options.device).automatic)
    result->device = device_for(device_of(options.device, opened.model().config()),
                                [&] { return memory_to_load(opened, on_device); });
  if (result->device) result->options = on_device;
  // With a single thread the tokenizer is read when it is asked for.
  auto tokenizer = std::async(
      thread_count() > 1 ? std::launch::async | std::launch::deferred : std::launch::deferred,
      [&files, &executor = *result->executor, interrupts = current_interrupts()] {
        const ExecutorScope own_scope(executor);
        const InheritedInterrupts inherited(interrupts);
        return read_tokenizer(files);
      });
  auto loaded = load_transformer(std::move(opened), path, result->options, result->device);
  result->adapters = LoadedAdapters(*loaded, options.adapters);
  result->transformer = std::move(loaded);
  const model::Transformer& transformer = *result->transformer;
  result->tokenizer.set([&] { return tokenizer.get(); });
  result->generation.set(
      [&] { return generate::read_generation_config(files, transformer.config()); });
  const int64_t context = tasks::context_limit(transformer.config());
  result->embedding.set([&] {
    auto read = tasks::read_embedder_options(files, context);
    read.width(transformer.config().d_model);  // throws if the modules do not fit the model
    return read;
  });
  result->text_settings.set(
      [&] { return tasks::read_text_settings(path, context, tasks::TransformerTask::scores); });
  result->chat_templates.set(
      [&] { return chat_templates(files, result->shared_tokenizer("chat")); });
  result->pair_settings.set([&] {
    auto read = tasks::read_pair_settings(path, transformer.config().vocab_size);
    if (!read.logit_score && result->has_shared_tokenizer())
      read.logit_score = tasks::qwen3_reranker(path, result->shared_tokenizer("reranking"));
    return read;
  });
  result->sentences.set([&] { return document::read_sentence_settings(path); });
  result->confidence.set([&] { return generate::read_calibrations(path); });
  result->default_embedder.set([&] { return result->make_embedder({}); });
  prepare_speculation(*result);
  result->shortlist = read_shortlist(*result);
  result->warnings = warnings_of(*result);
  return result;
}

const text::Tokenizer& LoadedModel::shared_tokenizer(std::string_view purpose) const {
  return engine::shared_tokenizer(path, tokenizer.value(), purpose);
}

bool LoadedModel::has_shared_tokenizer() const {
  return tokenizer.has_value() && tokenizer.value().shared_tokenizer() != nullptr;
}

const text::TranslationTokenizer* LoadedModel::translation_tokenizer() const {
  return tokenizer.has_value() ? tokenizer.value().translation_tokenizer() : nullptr;
}

std::shared_ptr<const generate::TokenJoints> LoadedModel::token_joints() const {
  std::call_once(token_joints_once, [&] {
    token_joints_value = std::make_shared<const generate::TokenJoints>(*translation_tokenizer());
  });
  return token_joints_value;
}

std::optional<text::Tokenizer> LoadedModel::output_tokenizer() const {
  return has_shared_tokenizer() ? std::optional(*tokenizer.value().shared_tokenizer())
                                : std::nullopt;
}

Candidate LoadedModel::candidate_of(Hypothesis hypothesis) const {
  std::string text =
      tokenizer.has_value() ? tokenizer.value().decode_target(hypothesis.tokens) : std::string();
  return {std::move(text), std::move(hypothesis)};
}

const gpu::Gpu* LoadedModel::gpu() const { return dynamic_cast<const gpu::Gpu*>(device); }

DType LoadedModel::activations() const { return activation_dtype(options); }

std::optional<DType> LoadedModel::cache() const {
  if (!options.cache) return std::nullopt;
  return dtype_of(*options.cache);
}

void LoadedModel::require_generates() const {
  if (!transformer->has_decoder() || !transformer->config().has_head)
    refuse_task(&ModelTasks::generate);
}

std::string_view LoadedModel::kind() const {
  if (!transformer->has_encoder()) return "decoder-only";
  return transformer->has_decoder() ? "an encoder-decoder" : "encoder-only";
}

std::vector<int32_t> LoadedModel::tokens_of(const Prompt& prompt) const {
  if (const auto* tokens = std::get_if<std::vector<int32_t>>(&prompt)) return *tokens;
  const std::string& text = std::get<std::string>(prompt);
  text::require_utf8(text, "the text");
  std::vector<int32_t> tokens = shared_tokenizer("generation").encode(text);
  if (!tokens.empty()) return tokens;
  const int32_t suggested = generation.has_value() ? generation.value().bos_id : -1;
  const int32_t bos = suggested >= 0 ? suggested : transformer->config().bos_id;
  if (bos >= 0) tokens.push_back(bos);
  return tokens;
}

generate::GeneratorOptions LoadedModel::generator_options(const GenerateOptions& asked) const {
  const generate::GenerationConfig& suggested = generation.value();
  generate::GeneratorOptions result;
  result.sampling = sampling_of(asked, suggested);
  result.dtype = activations();
  result.cache_dtype = cache();
  result.make_drafter = [this] { return make_drafter(*this); };
  result.max_new_tokens = asked.max_new_tokens.value_or(suggested.max_new_tokens.value_or(256));
  if (!asked.max_new_tokens && !suggested.max_new_tokens) result.max_length = suggested.max_length;
  result.rules = suggested.rules;
  result.rules.repetition_penalty = result.sampling.repetition_penalty;
  if (asked.min_new_tokens) {
    result.rules.min_length = 0;
    result.rules.min_new_tokens = *asked.min_new_tokens;
    generate::GenerateOption::min_new_tokens.check(*asked.min_new_tokens);
    require_input(*asked.min_new_tokens <= result.max_new_tokens,
                  "min_new_tokens is {}, expected at most max_new_tokens, {}",
                  *asked.min_new_tokens, result.max_new_tokens);
    require_input(*asked.min_new_tokens == 0 || asked.structured_output == StructuredOutput(),
                  "min_new_tokens is {}, and what the output must match ends it",
                  *asked.min_new_tokens);
  }
  result.rules.eos_ids.insert(result.rules.eos_ids.end(), asked.end_tokens.begin(),
                              asked.end_tokens.end());
  if (asked.structured_output != StructuredOutput())
    result.constraint = output_constraints.get(
        asked.structured_output,
        {.tokenizer = shared_tokenizer("a constraint on the output"),
         .vocab_size = transformer->config().vocab_size,
         .end_tokens = result.rules.eos_ids,
         .forced_first = transformer->has_encoder() ? result.rules.forced_bos_id : -1});
  result.stop = asked.stop;
  result.skip_special_tokens = asked.skip_special_tokens;
  result.top_log_probabilities = asked.top_log_probabilities;
  result.batch_tokens = asked.batch_tokens;
  generate::GenerateOption::max_new_tokens.check(result.max_new_tokens);
  generate::GenerateOption::batch_tokens.check(result.batch_tokens);
  generate::GenerateOption::top_log_probabilities.check(result.top_log_probabilities);
  return result;
}

std::shared_ptr<const tasks::Embedder> LoadedModel::embedder(const EmbedOptions& asked) const {
  if (translation_tokenizer()) refuse_task(&ModelTasks::embed);
  return asked == EmbedOptions() ? default_embedder.value() : make_embedder(asked);
}

tasks::EmbedderOptions LoadedModel::embedder_options(const EmbedOptions& asked) const {
  tasks::EmbedderOptions result = embedding.value();
  check_all<tasks::EmbedOption>(asked);
  result.apply(asked, transformer->config().d_model);
  result.dtype = activations();
  return result;
}

tasks::TextReader LoadedModel::text_reader(const EmbedOptions& asked) const {
  return {transformer->config(), shared_tokenizer("embedding"), embedder_options(asked)};
}

std::shared_ptr<const tasks::Embedder> LoadedModel::make_embedder(const EmbedOptions& asked) const {
  return std::make_shared<tasks::Embedder>(*transformer, shared_tokenizer("embedding"),
                                           embedder_options(asked));
}

inspect::ModelInput LoadedModel::attention_input(const std::string& text,
                                                 const AttentionOptions& asked) const {
  text::require_utf8(text, "the text");
  text::require_utf8(asked.target, "the target");
  const bool generates =
      transformer->has_encoder() && transformer->has_decoder() && asked.target.empty();
  text::LanguagePair languages{asked.source_language, asked.target_language};
  if (const text::TranslationTokenizer* translator = translation_tokenizer())
    languages = with_detected_source(std::move(languages), text, *translator);
  return inspect::read_input(*transformer, tokenizer.value(), text, asked.target, languages,
                             generates ? generation.value().rules : generate::TokenRules(),
                             activations());
}

}  // namespace heed::engine
