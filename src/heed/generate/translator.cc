#include "heed/generate/translator.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/data/inference_batches.h"
#include "heed/generate/alignment.h"
#include "heed/generate/cached_decoder.h"
#include "heed/model/check_input.h"
#include "heed/text/utf8.h"

namespace heed::generate {
namespace {

/// Smallest number of source tokens times num_beams of a batch that one thread translates alone.
constexpr int64_t kMinTranslatedTokens = 256;

}  // namespace

Translator::Translator(const model::Transformer& model, const text::TranslationTokenizer& tokenizer,
                       Options options)
    : model_(model), tokenizer_(tokenizer), options_(std::move(options)) {
  const model::ModelConfig& config = model.config();
  options_.search.scores = options_.scores;
  check(options_.search);
  if (options_.rules.eos_ids.empty()) options_.rules.eos_ids = config.eos_ids();
  prompt_ = tokenizer.start_of_target(options_.languages, options_.rules.start_id(config),
                                      options_.rules.forced_bos_id);
  // Only lines for OPUS-MT may name their own target language.
  if (tokenizer.languages().layout() != text::LanguageTokens::Layout::target_in_source &&
      !options_.source_of)
    tokenizer.encode_source("", options_.languages);
}

std::vector<int32_t> Translator::encode(const std::string& line) const {
  text::require_utf8(line, "the text");
  text::LanguagePair languages = options_.languages;
  if (options_.source_of) languages.source = options_.source_of(line);
  std::vector<int32_t> tokens = tokenizer_.encode_source(line, languages);
  model::check_length(model_.config(), tokens);
  model::check_source_tokens(model_.config(), tokens);
  return tokens;
}

/// f32 products split the weights into bf16 parts each time, which only many rows amortise.
int64_t Translator::batch_tokens() const {
  if (options_.batch_tokens > 0) return options_.batch_tokens;
  if (model_.device()) return data::kDeviceBatchTokens;
  return computes_in_int8(model_) ? 2048 : 8192;
}

std::vector<Translation> Translator::translate(const std::vector<std::string>& lines,
                                               int64_t first_line) const {
  std::vector<Translation> results(lines.size());
  std::vector<std::shared_ptr<const RequiredTerms>> terms(lines.size());
  const auto is_filled = [&](const Translation& line) {
    return !std::ranges::all_of(line.source, [&](int32_t t) { return tokenizer_.is_special(t); });
  };
  data::read_inputs("line", lines.size(), first_line, [&](size_t i) {
    results[i].source = encode(lines[i]);
    if (!options_.terms_of || !is_filled(results[i])) return;
    terms[i] = options_.terms_of(lines[i], results[i].source);
    check_terms(terms[i].get(), options_.rules, input_of(results[i]), options_.search);
  });
  std::vector<Line> filled;  // those with tokens besides end of sequence and language
  std::vector<int64_t> lengths;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!is_filled(results[i])) continue;
    filled.push_back({&results[i], terms[i]});
    lengths.push_back(static_cast<int64_t>(results[i].source.size()));
  }
  const int64_t beams = std::max(options_.search.num_beams, 1);
  const data::BatchTokens tokens{.max_per_batch = std::max<int64_t>(batch_tokens() / beams, 1),
                                 .min_per_thread = kMinTranslatedTokens / beams,
                                 .on_device = model_.device() != nullptr};
  data::run_batches(lengths, tokens, [&](std::span<const int64_t> members) {
    std::vector<Line> own;
    for (const int64_t index : members) own.push_back(filled[static_cast<size_t>(index)]);
    translate_batch(own);
  });
  return results;
}

GeneratorInput Translator::input_of(const Translation& line) const {
  return translation_input(model_.config(), options_.search, line.source, prompt_);
}

void Translator::translate_batch(const std::vector<Line>& lines) const {
  SearchBatch batch{.rules = options_.rules,
                    .memory_dtype = default_cache_dtype(model_, options_.dtype),
                    .cross_attention = options_.alignments};
  for (const Line& line : lines) {
    batch.inputs.push_back(input_of(*line.result));
    batch.terms.push_back(line.terms);
    if (options_.shortlist)
      batch.shortlists.push_back(
          options_.shortlist->tokens_for(line.result->source, options_.rules, line.terms.get()));
  }
  const auto found = search(model_, options_.dtype, batch, options_.search);
  for (size_t i = 0; i < lines.size(); ++i)
    for (const SearchResult& result : found[i]) {
      Candidate candidate{.text = tokenizer_.decode_target(result.hypothesis.tokens),
                          .hypothesis = result.hypothesis};
      if (options_.alignments)
        candidate.alignment = align_words(tokenizer_, lines[i].result->source, result);
      lines[i].result->candidates.push_back(std::move(candidate));
    }
}

}  // namespace heed::generate
