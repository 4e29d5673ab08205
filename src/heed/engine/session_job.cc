#include "heed/engine/session_job.h"

#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/engine/confidence/candidate_confidence.h"
#include "heed/engine/detected_source.h"
#include "heed/generate/alignment.h"
#include "heed/generate/beam.h"
#include "heed/generate/cached_decoder.h"
#include "heed/generate/generator.h"
#include "heed/generate/glossary.h"
#include "heed/generate/sampling_state.h"
#include "heed/generate/search.h"
#include "heed/model/check_input.h"
#include "heed/text/utf8.h"
#include "heed/translation.h"

namespace heed::engine {
namespace {

/// Sampling, or greedy search token by token.
class SampledJob : public SessionJob {
 public:
  SampledJob(const LoadedModel& model, const Request& request)
      : generator_(*model.transformer, model.output_tokenizer(),
                   model.generator_options(request.options)),
        input_(generator_.input(model.tokens_of(request.prompt))),
        output_(generator_.options(), generator_.tokenizer(), input_,
                static_cast<uint64_t>(request.number - 1)) {}

  generate::Scheduler::Request request() override {
    return {.source = input_.source, .decoding = &output_, .max_tokens = input_.max_tokens(1)};
  }

  bool report(RequestId id, bool ended, const Session::OnDelta& on_delta) override {
    const std::string text = output_.take_text();
    Delta delta{.request = id, .text = text};
    delta.tokens = output_.tokens().subspan(reported_);
    const Generation& result = output_.result();
    if (!result.chosen.empty()) {
      delta.chosen = std::span(result.chosen).subspan(reported_);
      delta.best = std::span(result.best).subspan(reported_);
    }
    reported_ += delta.tokens.size();
    if (ended) delta.generation = &result;
    return on_delta(delta);
  }

 private:
  generate::Generator generator_;
  generate::GeneratorInput input_;
  generate::SamplingState output_;
  size_t reported_ = 0;  // tokens
};

/// Greedy or beam search.
class SearchJob : public SessionJob {
 public:
  SearchJob(const LoadedModel& model, const SearchOptions& options, generate::GeneratorInput input,
            generate::TokenRules rules, const generate::OutputConstraint& constraint = {},
            std::shared_ptr<const generate::RequiredTerms> terms = nullptr,
            generate::TokenList shortlist = {})
      : model_(model),
        input_(std::move(input)),
        has_terms_(terms != nullptr),
        decoding_(options, input_, std::move(rules), constraint, std::move(terms)),
        shortlist_(std::move(shortlist)) {}

  /// Words are aligned as those of the tokenizer.
  void align(const text::TranslationTokenizer& tokenizer) { aligned_ = &tokenizer; }
  /// `calibration` must outlive this.
  void add_confidence_of(const generate::ConfidenceCalibration& calibration) {
    calibration_ = &calibration;
  }

  generate::Scheduler::Request request() override {
    return {.source = input_.source,
            .decoding = &decoding_,
            .max_tokens = input_.max_tokens(decoding_.max_paths()),
            .cross_attention = aligned_ != nullptr || has_terms_,
            .shortlist = shortlist_};
  }

  bool report(RequestId id, bool ended, const Session::OnDelta& on_delta) override {
    if (!ended) return true;
    std::vector<Candidate> candidates;
    for (const generate::SearchResult& result : decoding_.best()) {
      candidates.push_back(model_.candidate_of(result.hypothesis));
      if (aligned_)
        candidates.back().alignment = generate::align_words(*aligned_, input_.source, result);
      if (calibration_) add_confidence(model_, *calibration_, candidates.back());
    }
    Delta delta{.request = id};
    delta.candidates = &candidates;
    return on_delta(delta);
  }

 private:
  const LoadedModel& model_;
  generate::GeneratorInput input_;
  bool has_terms_;
  generate::BeamState decoding_;
  generate::TokenList shortlist_;
  const text::TranslationTokenizer* aligned_ = nullptr;           // null: words are not aligned
  const generate::ConfidenceCalibration* calibration_ = nullptr;  // null: confidence is not asked
};

/// A translation has the limits and defaults of Model::translate().
std::unique_ptr<SessionJob> translation_job(const LoadedModel& model,
                                            const text::TranslationTokenizer& tokenizer,
                                            const Request& request) {
  SearchOptions options = request.search.value_or(TranslateOptions().search);
  options.scores |= request.confidence;
  check(options);
  const model::ModelConfig& config = model.transformer->config();
  generate::TokenRules rules = model.generation.value().rules;
  text::LanguagePair languages{request.source_language, request.target_language};
  std::vector<int32_t> source;
  if (const auto* text = std::get_if<std::string>(&request.prompt)) {
    text::require_utf8(*text, "the text");
    languages = with_detected_source(std::move(languages), *text, tokenizer);
    source = tokenizer.encode_source(*text, languages);
  } else {
    source = std::get<std::vector<int32_t>>(request.prompt);
  }
  model::check_length(config, source);
  model::check_source_tokens(config, source);
  std::vector<int32_t> prompt =
      tokenizer.start_of_target(languages, rules.start_id(config), rules.forced_bos_id);
  std::shared_ptr<const generate::RequiredTerms> terms;
  if (!request.required_texts.empty())
    terms =
        generate::required_terms(request.required_texts, source, tokenizer, model.token_joints());
  generate::TokenList shortlist;
  if (model.shortlist) shortlist = model.shortlist->tokens_for(source, rules, terms.get());
  generate::GeneratorInput input =
      generate::translation_input(config, options, std::move(source), std::move(prompt));
  generate::check_terms(terms.get(), rules, input, options);
  auto job = std::make_unique<SearchJob>(model, options, std::move(input), std::move(rules),
                                         generate::OutputConstraint(), std::move(terms),
                                         std::move(shortlist));
  if (request.alignments) job->align(tokenizer);
  if (request.confidence)
    job->add_confidence_of(calibration_for(model, {languages.source, languages.target}));
  return job;
}

std::unique_ptr<SessionJob> search_job(const LoadedModel& model, const SearchOptions& options,
                                       const Request& request) {
  check(options);
  const generate::GeneratorOptions limits = model.generator_options(request.options);
  const generate::Generator generator(*model.transformer, std::nullopt, limits);
  return std::make_unique<SearchJob>(model, options,
                                     generator.input(model.tokens_of(request.prompt)), limits.rules,
                                     limits.constraint);
}

}  // namespace

generate::CacheOptions session_cache(const LoadedModel& model) {
  const DType standard = generate::default_cache_dtype(*model.transformer, model.activations());
  if (model.translation_tokenizer()) return {.dtype = std::nullopt, .memory_dtype = standard};
  const DType dtype = model.cache().value_or(standard);
  return {.dtype = dtype, .memory_dtype = dtype};
}

std::unique_ptr<SessionJob> SessionJob::make(const LoadedModel& model, const Request& request) {
  require_input(request.number >= 1, "the number of the request is {}, expected at least 1",
                request.number);
  if (const text::TranslationTokenizer* translator = model.translation_tokenizer())
    return translation_job(model, *translator, request);
  require_input(!request.alignments,
                "alignments were requested, but this model does not translate");
  require_input(request.required_texts.empty(),
                "texts are required of an output, but this model does not translate");
  require_input(!request.confidence, "confidence was requested, but this model does not translate");
  if (request.search) return search_job(model, *request.search, request);
  return std::make_unique<SampledJob>(model, request);
}

}  // namespace heed::engine
