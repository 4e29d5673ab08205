#include "heed/generate/generator.h"

#include <algorithm>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/data/batch.h"
#include "heed/data/translation_batches.h"
#include "heed/generate/cached_decoder.h"
#include "heed/generate/input_error.h"
#include "heed/generate/output.h"
#include "heed/text/utf8.h"

namespace heed::generate {

/// Prompts that are decoded together.
struct Generator::Batch {
  model::Memory memory;                               // empty for a decoder-only model
  std::vector<std::vector<int32_t>> decoder_prompts;  // the first input of the decoder
};

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

/// The rows of the kv cache to reserve: the prompts and outputs of full length.
int64_t Generator::expected_rows(const Batch& batch) const {
  constexpr int64_t kMaxRows = 4096;  // per output, which may end long before max_new_tokens
  int64_t rows = 0;
  for (const std::vector<int32_t>& prompt : batch.decoder_prompts)
    rows += static_cast<int64_t>(prompt.size()) + std::min(kMaxRows, max_new_tokens(prompt.size()));
  return rows;
}

std::vector<std::vector<int64_t>> Generator::batches(
    const std::vector<std::vector<int32_t>>& prompts, int64_t paths) const {
  std::vector<int64_t> lengths;
  for (const std::vector<int32_t>& prompt : prompts)
    lengths.push_back(static_cast<int64_t>(prompt.size()) +
                      paths * max_new_tokens(model_.has_encoder() ? 1 : prompt.size()));
  return data::plan_by_tokens(lengths, options_.batch_tokens);
}

Generator::Batch Generator::make_batch(const std::vector<std::vector<int32_t>>& prompts,
                                       const std::vector<int64_t>& members) const {
  Batch batch;
  if (!model_.has_encoder()) {
    for (const int64_t i : members)
      batch.decoder_prompts.push_back(prompts[static_cast<size_t>(i)]);
    return batch;
  }
  std::vector<int32_t> ids, offsets{0};
  for (const int64_t i : members)
    data::append_sequence(prompts[static_cast<size_t>(i)], ids, offsets);
  Context context{.dtype = options_.dtype};
  batch.memory =
      in_cache_dtype(*options_.cache_dtype, model_, model_.encode(context, {ids, offsets}));
  std::vector<int32_t> start{model_.config().decoder_start_id};
  if (options_.forced_bos_id >= 0) start.push_back(options_.forced_bos_id);
  batch.decoder_prompts.assign(members.size(), start);
  return batch;
}

namespace {

/// Decodes one token of each active output. `inputs` is scratch space.
void step(CachedDecoder& decoder, std::vector<Output>& outputs, const std::vector<size_t>& active,
          std::vector<CachedDecoder::DecodeInput>& inputs) {
  inputs.clear();
  for (const size_t i : active)
    inputs.push_back({outputs[i].unread(), outputs[i].cache_rows, static_cast<int64_t>(i)});
  Tensor logits = decoder.decode(inputs);  // [active, V]
  parallel_for(logits.rows(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      outputs[active[static_cast<size_t>(row)]].advance(
          {logits.data<float>() + row * logits.cols(), static_cast<size_t>(logits.cols())});
  });
}

}  // namespace

std::vector<Generation> Generator::generate(const std::vector<std::vector<int32_t>>& prompts,
                                            uint64_t first_number, const OnText& on_text) const {
  check_prompts(prompts, first_number);
  std::vector<Generation> results(prompts.size());
  for (const std::vector<int64_t>& members : batches(prompts, 1)) {
    const Batch batch = make_batch(prompts, members);
    std::vector<Output> outputs;
    for (size_t i = 0; i < members.size(); ++i)
      outputs.emplace_back(options_, tokenizer_, batch.decoder_prompts[i],
                           first_number + static_cast<uint64_t>(members[i]),
                           max_new_tokens(batch.decoder_prompts[i].size()));
    CachedDecoder decoder(model_, options_.dtype, batch.memory,
                          {options_.cache_dtype, expected_rows(batch)});
    std::vector<size_t> active(members.size());
    for (size_t i = 0; i < active.size(); ++i) active[i] = i;
    std::vector<CachedDecoder::DecodeInput> inputs;
    while (!active.empty()) {
      step(decoder, outputs, active, inputs);
      for (const size_t i : active)
        if (const std::string text = outputs[i].take_text(); on_text && !text.empty())
          on_text(static_cast<size_t>(members[i]), text);
      std::erase_if(active, [&](size_t i) { return outputs[i].finished(); });
    }
    for (size_t i = 0; i < members.size(); ++i)
      results[static_cast<size_t>(members[i])] = std::move(outputs[i].result);
  }
  return results;
}

std::vector<std::vector<Hypothesis>> Generator::search(
    const std::vector<std::vector<int32_t>>& prompts, const SearchOptions& options,
    uint64_t first_number) const {
  check(options);
  check_prompts(prompts, first_number);
  std::vector<std::vector<Hypothesis>> results(prompts.size());
  for (const std::vector<int64_t>& members : batches(prompts, options.num_beams)) {
    Batch batch = make_batch(prompts, members);
    PromptBatch inputs{.eos_ids = options_.eos_ids};
    for (const std::vector<int32_t>& prompt : batch.decoder_prompts)
      inputs.max_new_tokens.push_back(max_new_tokens(prompt.size()));
    inputs.prompts = std::move(batch.decoder_prompts);
    auto found = generate::search(model_, options_.dtype, batch.memory, std::move(inputs), options);
    for (size_t i = 0; i < members.size(); ++i)
      results[static_cast<size_t>(members[i])] = std::move(found[i]);
  }
  return results;
}

}  // namespace heed::generate
