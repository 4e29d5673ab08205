#include "heed/generate/generator.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/generate/sampling_state.h"
#include "heed/generate/scheduler.h"
#include "heed/model/check_input.h"
#include "heed/text/utf8.h"

namespace heed::generate {

Generator::Generator(const model::Transformer& model, std::optional<text::Tokenizer> tokenizer,
                     GeneratorOptions options)
    : model_(model), tokenizer_(std::move(tokenizer)), options_(std::move(options)) {
  if (!options_.cache_dtype) options_.cache_dtype = default_cache_dtype(model, options_.dtype);
  const int64_t vocab_size = model.config().vocab_size;
  require(model.has_decoder() && model.config().has_head, "the model cannot generate: it has no {}",
          model.has_decoder() ? "language model head" : "decoder");
  check(options_.sampling, vocab_size);
  require_input(options_.max_new_tokens >= 1, "max_new_tokens is {}, expected at least 1",
                options_.max_new_tokens);
  require_input(options_.stop.empty() || tokenizer_, "stop strings need a tokenizer");
  for (const std::string& stop : options_.stop) text::require_utf8(stop, "a stop string");
  require_input(options_.batch_tokens >= 1, "batch_tokens is {}, expected at least 1",
                options_.batch_tokens);
  make_caches(model, options_.cache_dtype);
}

GeneratorInput Generator::input(const std::vector<int32_t>& prompt) const {
  const model::ModelConfig& config = model_.config();
  model::check_length(config, prompt);
  model::check_source_tokens(config, prompt);
  GeneratorInput input{.prompt = prompt, .max_new_tokens = options_.max_new_tokens};
  if (model_.has_encoder())
    input.source = std::exchange(input.prompt, {options_.rules.start_id(config)});
  // Many files repeat the context length here.
  if (options_.max_length && *options_.max_length < config.max_positions) {
    const int64_t room = *options_.max_length - static_cast<int64_t>(input.prompt.size());
    require(room > 0,
            "the prompt has {} tokens, and the model's files limit prompt and output to {} "
            "(max_length), expected a max_new_tokens",
            input.prompt.size(), *options_.max_length);
    input.max_new_tokens = std::min(input.max_new_tokens, room);
  }
  // The model does not read the last output token, so one token can follow a prompt that fills the
  // context.
  if (config.positions != model::PositionKind::none)
    input.max_new_tokens = std::min(
        input.max_new_tokens, config.max_positions - static_cast<int64_t>(input.prompt.size()) + 1);
  require_input(!options_.constraint.complete ||
                    ConstrainedOutput(options_.constraint).can_complete(input.max_new_tokens),
                "{} tokens are too few for the shortest output that satisfies the constraint",
                input.max_new_tokens);
  return input;
}

std::vector<GeneratorInput> Generator::inputs(const std::vector<std::vector<int32_t>>& prompts,
                                              uint64_t first_number) const {
  std::vector<GeneratorInput> inputs;
  for (size_t i = 0; i < prompts.size(); ++i)
    inputs.push_back(name_input("prompt", static_cast<int64_t>(first_number + i + 1),
                                [&] { return input(prompts[i]); }));
  return inputs;
}

/// The rows of the kv cache to reserve: the prompts and outputs of full length.
int64_t Generator::expected_rows(const std::vector<GeneratorInput>& inputs) const {
  constexpr int64_t kMaxRows = 4096;  // per output, which may end long before max_new_tokens
  int64_t rows = 0;
  for (const GeneratorInput& input : inputs) {
    const int64_t one =
        static_cast<int64_t>(input.prompt.size()) + std::min(kMaxRows, input.max_new_tokens);
    if (rows > 0 && rows + one > options_.batch_tokens) break;
    rows += one;
  }
  return rows;
}

std::vector<Generation> Generator::generate(const std::vector<std::vector<int32_t>>& prompts,
                                            uint64_t first_number, const OnText& on_text) const {
  const std::vector<GeneratorInput> all = inputs(prompts, first_number);
  Scheduler scheduler(model_,
                      {.dtype = options_.dtype,
                       .cache = {.dtype = options_.cache_dtype,
                                 .memory_dtype = options_.cache_dtype,
                                 .expected_rows = expected_rows(all)},
                       .max_active_tokens = options_.batch_tokens,
                       .drafter = options_.make_drafter ? options_.make_drafter() : nullptr});
  std::deque<SamplingState> outputs;
  std::unordered_map<Scheduler::Id, size_t> indices;
  for (size_t i = 0; i < all.size(); ++i) {
    outputs.emplace_back(options_, tokenizer_, all[i], first_number + i);
    indices[scheduler.add({.source = all[i].source,
                           .decoding = &outputs.back(),
                           .max_tokens = all[i].max_tokens(1)})] = i;
  }
  while (!scheduler.idle())
    for (const Scheduler::Progress& progress : scheduler.step()) {
      if (progress.error) std::rethrow_exception(progress.error);
      const size_t i = indices.at(progress.id);
      if (const std::string text = outputs[i].take_text(); on_text && !text.empty())
        on_text(i, text);
    }
  std::vector<Generation> results;
  for (const SamplingState& output : outputs) results.push_back(output.result());
  return results;
}

std::vector<std::vector<Hypothesis>> Generator::search(
    const std::vector<std::vector<int32_t>>& prompts, const SearchOptions& options,
    uint64_t first_number) const {
  check(options);
  require_input(!options_.constraint.complete, "a beam search cannot complete its outputs");
  const SearchBatch batch{.inputs = inputs(prompts, first_number),
                          .rules = options_.rules,
                          .constraint = options_.constraint,
                          .memory_dtype = options_.cache_dtype,
                          .max_active_tokens = options_.batch_tokens};
  return hypotheses_of(generate::search(model_, options_.dtype, batch, options));
}

}  // namespace heed::generate
