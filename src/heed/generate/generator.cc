#include "heed/generate/generator.h"

#include <algorithm>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/data/translation_batches.h"
#include "heed/generate/cached_decoder.h"
#include "heed/generate/output.h"

namespace heed::generate {

std::string_view name_of(Ending ending) {
  switch (ending) {
    case Ending::end_token:
      return "end_token";
    case Ending::stop_string:
      return "stop_string";
    case Ending::length:
      return "length";
  }
  return "?";
}

/// Prompts that are decoded together.
struct Generator::Batch {
  model::Memory memory;                          // of an encoder-decoder
  std::vector<std::vector<int32_t>> beginnings;  // what the decoder is given first
};

Generator::Generator(const model::Transformer& model, std::optional<text::Tokenizer> tokenizer,
                     GeneratorOptions options)
    : model_(model), tokenizer_(std::move(tokenizer)), options_(std::move(options)) {
  if (!options_.cache_dtype) options_.cache_dtype = suitable_cache(model, options_.dtype);
  const int64_t vocab_size = model.config().vocab_size;
  require(model.has_decoder() && model.config().has_head, "the model cannot generate: it has no {}",
          model.has_decoder() ? "head" : "decoder");
  check(options_.sampling, vocab_size);
  require(options_.max_tokens >= 1, "max-tokens is {}, expected at least 1", options_.max_tokens);
  require(options_.stop.empty() || tokenizer_, "stop strings need a tokenizer");
  require(options_.batch_tokens >= 1, "a batch of {} tokens, expected at least 1",
          options_.batch_tokens);
  require(!tokenizer_ || tokenizer_->vocab_size() <= vocab_size,
          "the tokenizer has {} pieces, the model's vocabulary {}",
          tokenizer_ ? tokenizer_->vocab_size() : 0, vocab_size);
}

void Generator::check_prompts(const std::vector<std::vector<int32_t>>& prompts,
                              uint64_t first_number) const {
  const model::ModelConfig& config = model_.config();
  for (size_t i = 0; i < prompts.size(); ++i) {
    const uint64_t number = first_number + i + 1;
    require(!prompts[i].empty(), "prompt {} has no tokens", number);
    require(config.positions == model::PositionKind::none ||
                static_cast<int64_t>(prompts[i].size()) <= config.max_positions,
            "prompt {} has {} tokens, the model reads at most {}", number, prompts[i].size(),
            config.max_positions);
    for (const int32_t token : prompts[i])
      require(token >= 0 && token < config.vocab_size,
              "prompt {} has the token {}, the vocabulary has {} tokens", number, token,
              config.vocab_size);
  }
}

/// The last token of an output is never read, so a prompt as long as the model reads has room for
/// one.
int64_t Generator::most_tokens(size_t decoder_prompt) const {
  const model::ModelConfig& config = model_.config();
  if (config.positions == model::PositionKind::none) return options_.max_tokens;
  return std::min(options_.max_tokens,
                  config.max_positions - static_cast<int64_t>(decoder_prompt) + 1);
}

/// Of the cache, when no output ends early.
int64_t Generator::expected_rows(const Batch& batch) const {
  constexpr int64_t kMost = 4096;  // what is more may never come
  int64_t rows = 0;
  for (const std::vector<int32_t>& beginning : batch.beginnings)
    rows += static_cast<int64_t>(beginning.size()) + std::min(kMost, most_tokens(beginning.size()));
  return rows;
}

std::vector<std::vector<int64_t>> Generator::batches(
    const std::vector<std::vector<int32_t>>& prompts, int64_t paths) const {
  std::vector<int64_t> lengths;
  for (const std::vector<int32_t>& prompt : prompts)
    lengths.push_back(static_cast<int64_t>(prompt.size()) +
                      paths * most_tokens(model_.has_encoder() ? 1 : prompt.size()));
  return data::plan_by_tokens(lengths, options_.batch_tokens);
}

Generator::Batch Generator::make_batch(const std::vector<std::vector<int32_t>>& prompts,
                                       const std::vector<int64_t>& members) const {
  Batch batch;
  if (!model_.has_encoder()) {
    for (const int64_t i : members) batch.beginnings.push_back(prompts[static_cast<size_t>(i)]);
    return batch;
  }
  std::vector<int32_t> ids, offsets{0};
  for (const int64_t i : members) {
    const std::vector<int32_t>& prompt = prompts[static_cast<size_t>(i)];
    ids.insert(ids.end(), prompt.begin(), prompt.end());
    offsets.push_back(static_cast<int32_t>(ids.size()));
  }
  Context context{.dtype = options_.dtype};
  batch.memory = kept_in(*options_.cache_dtype, model_, model_.encode(context, {ids, offsets}));
  std::vector<int32_t> beginning{model_.config().start_id};
  if (options_.forced_first_id >= 0) beginning.push_back(options_.forced_first_id);
  batch.beginnings.assign(members.size(), beginning);
  return batch;
}

namespace {

/// One pass for all outputs that have not ended; `feeds` is a list whose room is used again.
void step(CachedDecoder& decoder, std::vector<Output>& outputs, const std::vector<size_t>& living,
          std::vector<CachedDecoder::Feed>& feeds) {
  feeds.clear();
  for (const size_t i : living)
    feeds.push_back({outputs[i].unseen(), outputs[i].cache_rows, static_cast<int64_t>(i)});
  Tensor logits = decoder.feed(feeds);  // [living, V]
  parallel_for(logits.rows(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      outputs[living[static_cast<size_t>(row)]].advance(
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
      outputs.emplace_back(options_, tokenizer_, batch.beginnings[i],
                           first_number + static_cast<uint64_t>(members[i]),
                           most_tokens(batch.beginnings[i].size()));
    CachedDecoder decoder(model_, options_.dtype, batch.memory,
                          {options_.cache_dtype, expected_rows(batch)});
    std::vector<size_t> living(members.size());
    for (size_t i = 0; i < living.size(); ++i) living[i] = i;
    std::vector<CachedDecoder::Feed> feeds;
    while (!living.empty()) {
      step(decoder, outputs, living, feeds);
      for (const size_t i : living)
        if (const std::string text = outputs[i].take_text(); on_text && !text.empty())
          on_text(static_cast<size_t>(members[i]), text);
      std::erase_if(living, [&](size_t i) { return outputs[i].ended(); });
    }
    for (size_t i = 0; i < members.size(); ++i)
      results[static_cast<size_t>(members[i])] = std::move(outputs[i].result);
  }
  return results;
}

std::vector<std::vector<Hypothesis>> Generator::search(
    const std::vector<std::vector<int32_t>>& prompts, const SearchOptions& options) const {
  check_prompts(prompts, 0);
  std::vector<std::vector<Hypothesis>> results(prompts.size());
  for (const std::vector<int64_t>& members : batches(prompts, options.beam)) {
    Batch batch = make_batch(prompts, members);
    Beginnings beginnings{.end_ids = options_.end_ids};
    for (const std::vector<int32_t>& beginning : batch.beginnings)
      beginnings.most_tokens.push_back(most_tokens(beginning.size()));
    beginnings.prompts = std::move(batch.beginnings);
    auto found =
        generate::search(model_, options_.dtype, batch.memory, std::move(beginnings), options);
    for (size_t i = 0; i < members.size(); ++i)
      results[static_cast<size_t>(members[i])] = std::move(found[i]);
  }
  return results;
}

}  // namespace heed::generate
