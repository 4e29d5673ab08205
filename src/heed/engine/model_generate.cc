#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/parallel.h"
#include "heed/engine/loaded_model.h"
#include "heed/generate/generator.h"
#include "heed/model.h"

namespace heed {
namespace {

/// The number of a batch's first input, counted from 0.
uint64_t stream_of(int64_t first_number) {
  engine::check_count("first_number", first_number);
  return static_cast<uint64_t>(first_number - 1);
}

generate::Generator generator_of(const engine::LoadedModel& model, const GenerateOptions& options) {
  model.require_generates();
  return {*model.transformer, model.output_tokenizer(), model.generator_options(options)};
}

std::vector<std::vector<int32_t>> tokens_of(const engine::LoadedModel& model,
                                            const std::vector<Prompt>& prompts,
                                            int64_t first_number) {
  std::vector<std::vector<int32_t>> tokens;
  tokens.reserve(prompts.size());
  for (const Prompt& prompt : prompts) {
    check_interrupted();
    tokens.push_back(name_input("prompt", first_number + static_cast<int64_t>(tokens.size()),
                                [&] { return model.tokens_of(prompt); }));
  }
  return tokens;
}

}  // namespace

std::vector<int32_t> Model::prompt_tokens(const Prompt& prompt) const {
  return loaded_->tokens_of(prompt);
}

Generation Model::generate(const Prompt& prompt, const GenerateOptions& options,
                           const OnText& on_text) const {
  const ExecutorScope scope(*loaded_->executor);
  const generate::Generator generator = generator_of(*loaded_, options);
  generate::Generator::OnText forward;
  if (on_text) forward = [&](size_t, std::string_view text) { on_text(text); };
  return generator.generate(tokens_of(*loaded_, {prompt}, 1), 0, forward).front();
}

std::vector<Generation> Model::generate_batch(const std::vector<Prompt>& prompts,
                                              const GenerateOptions& options,
                                              int64_t first_number) const {
  const ExecutorScope scope(*loaded_->executor);
  const uint64_t stream = stream_of(first_number);
  const generate::Generator generator = generator_of(*loaded_, options);
  return generator.generate(tokens_of(*loaded_, prompts, first_number), stream);
}

std::vector<std::vector<Candidate>> Model::search_batch(const std::vector<Prompt>& prompts,
                                                        const SearchOptions& options,
                                                        const GenerateOptions& limits,
                                                        int64_t first_number) const {
  const ExecutorScope scope(*loaded_->executor);
  const uint64_t stream = stream_of(first_number);
  check(options);
  const generate::Generator generator = generator_of(*loaded_, limits);
  auto found = generator.search(tokens_of(*loaded_, prompts, first_number), options, stream);
  std::vector<std::vector<Candidate>> results;
  for (std::vector<Hypothesis>& hypotheses : found) {
    std::vector<Candidate>& candidates = results.emplace_back();
    for (Hypothesis& hypothesis : hypotheses)
      candidates.push_back(loaded_->candidate_of(std::move(hypothesis)));
  }
  return results;
}

}  // namespace heed
