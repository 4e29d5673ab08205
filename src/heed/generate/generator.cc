#include "heed/generate/generator.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/generate/input_error.h"
#include "heed/generate/output.h"
#include "heed/generate/scheduler.h"
#include "heed/text/utf8.h"

namespace heed::generate {

std::string_view name_of(FinishReason reason) {
  return reason == FinishReason::stop ? "stop" : "length";
}

Generator::Generator(const model::Transformer& model, std::optional<text::Tokenizer> tokenizer,
                     GeneratorOptions options)
    : model_(model), tokenizer_(std::move(tokenizer)), options_(std::move(options)) {
  if (!options_.cache_dtype) options_.cache_dtype = default_cache_dtype(model, options_.dtype);
  const int64_t vocab_size = model.config().vocab_size;
  require(model.has_decoder() && model.config().has_head, "the model cannot generate: it has no {}",
          model.has_decoder() ? "language model head" : "decoder");
  check(options_.sampling, vocab_size);
  require(options_.max_new_tokens >= 1, "max_new_tokens is {}, expected at least 1",
          options_.max_new_tokens);
  require(options_.stop.empty() || tokenizer_, "stop strings need a tokenizer");
  for (const std::string& stop : options_.stop) text::require_utf8(stop, "a stop string");
  require(options_.batch_tokens >= 1, "batch_tokens is {}, expected at least 1",
          options_.batch_tokens);
  make_caches(model, options_.cache_dtype);
  require(!tokenizer_ || tokenizer_->vocab_size() <= vocab_size,
          "the tokenizer has {} pieces, the model's vocabulary {}",
          tokenizer_ ? tokenizer_->vocab_size() : 0, vocab_size);
}

void Generator::check_prompts(const std::vector<std::vector<int32_t>>& prompts,
                              uint64_t first_number) const {
  for (size_t i = 0; i < prompts.size(); ++i)
    name_input("prompt", static_cast<int64_t>(first_number + i + 1),
               [&] { check_prompt(prompts[i]); });
}

void Generator::check_prompt(const std::vector<int32_t>& prompt) const {
  const model::ModelConfig& config = model_.config();
  require(!prompt.empty(), "no tokens");
  require(config.positions == model::PositionKind::none ||
              static_cast<int64_t>(prompt.size()) <= config.max_positions,
          "{} tokens, the model reads at most {}", prompt.size(), config.max_positions);
  for (const int32_t token : prompt)
    require(token >= 0 && token < config.vocab_size,
            "token {} is outside the vocabulary of {} tokens", token, config.vocab_size);
}

/// The model does not read the last output token, so one token can follow a prompt that fills the
/// context.
int64_t Generator::max_new_tokens(size_t prompt_tokens) const {
  const model::ModelConfig& config = model_.config();
  if (config.positions == model::PositionKind::none) return options_.max_new_tokens;
  return std::min(options_.max_new_tokens,
                  config.max_positions - static_cast<int64_t>(prompt_tokens) + 1);
}

/// The first input of the decoder: the prompt, or, after an encoder, the start tokens.
std::vector<int32_t> Generator::decoder_prompt(const std::vector<int32_t>& prompt) const {
  if (!model_.has_encoder()) return prompt;
  std::vector<int32_t> start{model_.config().decoder_start_id};
  if (options_.forced_bos_id >= 0) start.push_back(options_.forced_bos_id);
  return start;
}

std::vector<int32_t> Generator::source(const std::vector<int32_t>& prompt) const {
  return model_.has_encoder() ? prompt : std::vector<int32_t>();
}

/// The rows of the kv cache to reserve: the prompts and outputs of full length.
int64_t Generator::expected_rows(const std::vector<std::vector<int32_t>>& prompts) const {
  constexpr int64_t kMaxRows = 4096;  // per output, which may end long before max_new_tokens
  int64_t rows = 0;
  for (const std::vector<int32_t>& prompt : prompts) {
    const int64_t one =
        static_cast<int64_t>(prompt.size()) + std::min(kMaxRows, max_new_tokens(prompt.size()));
    if (rows > 0 && rows + one > options_.batch_tokens) break;
    rows += one;
  }
  return rows;
}

std::vector<Generation> Generator::generate(const std::vector<std::vector<int32_t>>& prompts,
                                            uint64_t first_number, const OnText& on_text) const {
  check_prompts(prompts, first_number);
  std::vector<std::vector<int32_t>> decoder_prompts;
  for (const std::vector<int32_t>& prompt : prompts)
    decoder_prompts.push_back(decoder_prompt(prompt));
  Scheduler scheduler(model_, {.dtype = options_.dtype,
                               .cache = {.dtype = options_.cache_dtype,
                                         .memory_dtype = options_.cache_dtype,
                                         .expected_rows = expected_rows(decoder_prompts)},
                               .max_active_tokens = options_.batch_tokens});
  std::deque<Output> outputs;
  std::unordered_map<Scheduler::Id, size_t> indices;
  for (size_t i = 0; i < prompts.size(); ++i) {
    const int64_t limit = max_new_tokens(decoder_prompts[i].size());
    outputs.emplace_back(options_, tokenizer_, decoder_prompts[i], first_number + i, limit);
    indices[scheduler.add({.source = source(prompts[i]),
                           .decoding = &outputs.back(),
                           .max_tokens = static_cast<int64_t>(prompts[i].size()) + limit})] = i;
  }
  while (!scheduler.idle())
    for (const Scheduler::Progress& progress : scheduler.step()) {
      if (progress.error) std::rethrow_exception(progress.error);
      const size_t i = indices.at(progress.id);
      if (const std::string text = outputs[i].take_text(); on_text && !text.empty())
        on_text(i, text);
    }
  std::vector<Generation> results;
  for (const Output& output : outputs) results.push_back(output.result());
  return results;
}

std::vector<std::vector<Hypothesis>> Generator::search(
    const std::vector<std::vector<int32_t>>& prompts, const SearchOptions& options,
    uint64_t first_number) const {
  check(options);
  check_prompts(prompts, first_number);
  SearchBatch batch{.eos_ids = options_.eos_ids,
                    .memory_dtype = options_.cache_dtype,
                    .max_active_tokens = options_.batch_tokens};
  for (const std::vector<int32_t>& prompt : prompts) {
    if (model_.has_encoder()) batch.sources.push_back(prompt);
    batch.prompts.push_back(decoder_prompt(prompt));
    batch.max_new_tokens.push_back(max_new_tokens(batch.prompts.back().size()));
  }
  return generate::search(model_, options_.dtype, batch, options);
}

}  // namespace heed::generate
