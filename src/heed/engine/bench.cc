#include "heed/bench.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/data/batch.h"
#include "heed/engine/loaded_model.h"
#include "heed/generate/cached_decoder.h"
#include "heed/generate/generator.h"
#include "heed/tasks/hidden_states.h"
#include "heed/train/distributed/machine.h"

namespace heed {
namespace {

constexpr int64_t kNoLimit = int64_t{1} << 30;
constexpr int64_t kMaxTokens = int64_t{1} << 28;  // per batch

/// The work, with the type of the activations.
struct Sizes : BenchOptions {
  DType dtype = DType::f32;
};

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Prompts of synthetic tokens.
std::vector<std::vector<int32_t>> prompts_of(const model::Transformer& model, int64_t batch,
                                             int64_t tokens) {
  const int64_t vocabulary = model.config().vocab_size;
  std::vector<std::vector<int32_t>> prompts(static_cast<size_t>(batch));
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < tokens; ++i)
      prompts[static_cast<size_t>(b)].push_back(
          static_cast<int32_t>((b * 104729 + i * 7919 + 13) % vocabulary));
  return prompts;
}

/// Floating-point operations of a forward pass: a third of those of a training step.
double forward_operations(const model::Transformer& model, int64_t texts, int64_t tokens,
                          int64_t predicted) {
  const int64_t all = texts * tokens;
  return train::operations_of_step(model.config(), {.source = model.has_encoder() ? all : 0,
                                                    .decoder = model.has_encoder() ? texts : all,
                                                    .predicted = predicted,
                                                    .sequences = texts}) /
         3;
}

/// Whether each decoding step reads the whole parameter. Embedding tables are read by row,
/// cross-attention keys and values are computed once per source.
bool is_read_by_step(const Parameter& parameter, const model::ModelConfig& config) {
  if (parameter.place.stack == WeightPlace::Stack::encoder) return false;
  switch (parameter.role) {
    case WeightRole::token_embedding:
      return config.tied_head;
    case WeightRole::position_embedding:
    case WeightRole::cross_key_value:
      return false;
    default:
      return true;
  }
}

/// Bytes of the weights that a decoding step reads. Of the experts, those that one token selects.
double bytes_per_step(const model::Transformer& model) {
  const model::ModelConfig& c = model.config();
  double bytes = 0;
  for (const Parameter& parameter : model.parameters().all()) {
    if (!is_read_by_step(parameter, c)) continue;
    const double share = parameter.place.expert ? static_cast<double>(c.moe.experts_per_token) /
                                                      static_cast<double>(c.moe.n_experts)
                                                : 1.0;
    const int64_t read =
        parameter.packed.defined() ? parameter.packed.bytes() : parameter.value.bytes();
    bytes += share * static_cast<double>(read);
  }
  return bytes;
}

/// Seconds for reading the prompts and generating `tokens` tokens after each: without end tokens,
/// so that every output has all its tokens.
double generation_seconds(const model::Transformer& model, const Sizes& options,
                          const std::vector<std::vector<int32_t>>& prompts, int64_t tokens) {
  const generate::Generator generator(
      model, std::nullopt,
      {.max_new_tokens = tokens,
       .dtype = options.dtype,
       .batch_tokens = options.batch_tokens > 0 ? options.batch_tokens : kNoLimit});
  return seconds_of([&] {
    if (options.num_beams > 1)
      generator.search(prompts, {.num_beams = options.num_beams});
    else
      generator.generate(prompts);
  });
}

void check_encoder_sizes(const Sizes& options) {
  require(options.num_beams == 1,
          "num_beams is for models with a decoder, this one is encoder-only");
}

void check_sizes(const model::Transformer& model, const Sizes& options) {
  require(options.batch <= kMaxTokens / options.prompt_tokens &&
              options.batch <= kMaxTokens / options.context_tokens,
          "a batch of {} prompts of {} tokens is too large, expected at most {} tokens",
          options.batch, std::max(options.prompt_tokens, options.context_tokens), kMaxTokens);
  if (!model.has_decoder()) return check_encoder_sizes(options);
  if (model.config().positions == model::PositionKind::none) return;
  const int64_t before = model.has_encoder() ? 1 : options.context_tokens;
  require(before + options.tokens <= model.config().max_positions,
          "{} tokens after {} exceed the model's context of {} tokens", options.tokens, before,
          model.config().max_positions);
}

std::vector<Measurement> measure_generation(const model::Transformer& model, const Sizes& options) {
  const auto seconds = [&](const std::vector<std::vector<int32_t>>& prompts, int64_t tokens) {
    return generation_seconds(model, options, prompts, tokens);
  };
  const int64_t context = model.has_encoder() ? options.prompt_tokens : options.context_tokens;
  const auto prompts = prompts_of(model, options.batch, options.prompt_tokens);
  const auto contexts = prompts_of(model, options.batch, context);
  Measurement prefill{"prefill", "tokens", options.batch * options.prompt_tokens, {}, 0, 0};
  Measurement decode{"decode", "tokens", options.batch * options.tokens, {}, 0, 0};
  Measurement outputs{"outputs", "outputs", options.batch, {}, 0, 0};
  seconds(prompts_of(model, 1, 1), 2);  // warm-up: memory, threads, pages of the weights
  for (int i = 0; i < options.repeat; ++i) {
    prefill.seconds.push_back(seconds(prompts, 1));
    if (options.tokens == 0) continue;
    const bool same = context == options.prompt_tokens;
    const double before = same ? prefill.seconds.back() : seconds(contexts, 1);
    const double whole = seconds(contexts, 1 + options.tokens);
    require(whole > before,
            "decoding {} tokens after {} takes too little time to measure: increase the number of "
            "tokens",
            options.tokens, context);
    decode.seconds.push_back(whole - before);
    outputs.seconds.push_back(whole);
  }
  prefill.operations =
      forward_operations(model, options.batch, options.prompt_tokens, options.batch);
  std::vector<Measurement> all{prefill};
  if (options.tokens == 0) return all;
  decode.weight_bytes = bytes_per_step(model) * static_cast<double>(options.tokens);
  all.push_back(decode);
  if (model.has_encoder()) all.push_back(outputs);
  return all;
}

std::vector<Measurement> measure_encoding(const model::Transformer& model, const Sizes& options) {
  std::vector<int32_t> ids, offsets{0};
  for (const auto& text : prompts_of(model, options.batch, options.prompt_tokens))
    data::append_sequence(text, ids, offsets);
  Measurement texts{"texts", "texts", options.batch, {}, 0, 0};
  Context context{.dtype = options.dtype};
  // A device works on when hidden_states() returns: its result is waited for.
  const auto run = [&] { tasks::hidden_states(model, context, {ids, offsets}).to(nullptr); };
  run();
  for (int i = 0; i < options.repeat; ++i) texts.seconds.push_back(seconds_of(run));
  texts.operations = forward_operations(model, options.batch, options.prompt_tokens, 0);
  return {texts};
}

/// Processes lines as heed translate, embed or generate do.
void process(const Model& model, const std::vector<std::string>& lines, const Sizes& sizes) {
  if (model.tasks().translate) {
    TranslateOptions options{.search = {.num_beams = sizes.num_beams, .scores = false}};
    if (sizes.batch_tokens > 0) options.batch_tokens = sizes.batch_tokens;
    model.translate_batch(lines, options);
  } else if (model.has_decoder()) {
    GenerateOptions options{.max_new_tokens = std::max<int64_t>(sizes.tokens, 1)};
    if (sizes.batch_tokens > 0) options.batch_tokens = sizes.batch_tokens;
    const std::vector<Prompt> prompts(lines.begin(), lines.end());
    if (sizes.num_beams > 1)
      model.search_batch(prompts, {.num_beams = sizes.num_beams}, options);
    else
      model.generate_batch(prompts, options);
  } else {
    check_encoder_sizes(sizes);
    EmbedOptions options;
    if (sizes.batch_tokens > 0) options.batch_tokens = sizes.batch_tokens;
    model.embed_batch(lines, options);
  }
}

/// The options, completed and checked.
Sizes sizes_of(const Model& model, const BenchOptions& options) {
  const Sizes sizes{with_defaults(model, options), engine::loaded(model).activations()};
  engine::check_count("prompt_tokens", sizes.prompt_tokens);
  engine::check_count("context_tokens", sizes.context_tokens);
  engine::check_count("tokens", sizes.tokens, 0);
  engine::check_count("batch", sizes.batch);
  engine::check_count("batch_tokens", sizes.batch_tokens, 0);
  engine::check_count("repeat", sizes.repeat);
  return sizes;
}

}  // namespace

double Measurement::median_seconds() const {
  std::vector<double> sorted = seconds;
  std::ranges::sort(sorted);
  const size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double Measurement::rate() const { return static_cast<double>(count) / median_seconds(); }
double Measurement::slowest_rate() const {
  return static_cast<double>(count) / *std::ranges::max_element(seconds);
}
double Measurement::fastest_rate() const {
  return static_cast<double>(count) / *std::ranges::min_element(seconds);
}

LoadedWeights loaded_weights(const Model& model) {
  const engine::LoadedModel& loaded = engine::loaded(model);
  const model::Transformer& transformer = *loaded.transformer;
  LoadedWeights weights{.parameters = transformer.parameters().count(), .bytes = {}};
  for (const Parameter& parameter : transformer.parameters().all())
    weights.bytes[std::string(name_of(parameter.value.dtype()))] += parameter.value.bytes();
  weights.compute = generate::computes_in_int8(transformer) ? Compute::int8
                    : loaded.activations() == DType::bf16   ? Compute::bf16
                                                            : Compute::f32;
  return weights;
}

BenchOptions with_defaults(const Model& model, BenchOptions options) {
  const model::ModelConfig& config = engine::loaded(model).transformer->config();
  if (options.prompt_tokens == 0) {
    options.prompt_tokens = !model.has_encoder() ? 512 : model.has_decoder() ? 32 : 128;
    if (config.positions != model::PositionKind::none)
      options.prompt_tokens = std::min(options.prompt_tokens, config.max_positions);
  }
  if (options.batch == 0) options.batch = model.has_encoder() ? 32 : 1;
  return options;
}

std::vector<Measurement> measure_tokens(const Model& model, const BenchOptions& options) {
  const engine::LoadedModel& loaded = engine::loaded(model);
  const ExecutorScope scope(*loaded.executor);
  const Sizes sizes = sizes_of(model, options);
  const model::Transformer& transformer = *loaded.transformer;
  check_sizes(transformer, sizes);
  return transformer.has_decoder() ? measure_generation(transformer, sizes)
                                   : measure_encoding(transformer, sizes);
}

Measurement measure_lines(const Model& model, const std::vector<std::string>& lines,
                          const BenchOptions& options) {
  const Sizes sizes = sizes_of(model, options);
  const auto few = static_cast<std::ptrdiff_t>(std::min<size_t>(lines.size(), 2));
  process(model, {lines.begin(), lines.begin() + few}, sizes);
  Measurement measured{"lines", "lines", static_cast<int64_t>(lines.size()), {}, 0, 0};
  for (int i = 0; i < options.repeat; ++i)
    measured.seconds.push_back(seconds_of([&] { process(model, lines, sizes); }));
  return measured;
}

}  // namespace heed
