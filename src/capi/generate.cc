#include "capi/generate.h"

#include "capi/model.h"
#include "capi/options.h"
#include "capi/outputs.h"
#include "heed/generate/generate_options.h"

namespace heed::capi {

#define HEED_GENERATE_NUMBERS(OPTION) \
  HEED_SAMPLING_OPTIONS(OPTION)       \
  HEED_PENALTY_OPTIONS(OPTION)        \
  HEED_OTHER_GENERATE_OPTIONS(OPTION)
HEED_C_OPTIONS(heed_generate_options, GenerateOptions, HEED_GENERATE_NUMBERS)
HEED_C_OPTIONS(heed_structured_output, StructuredOutput, HEED_STRUCTURED_OUTPUT_VALUES)
HEED_C_OPTIONS(heed_search_options, SearchOptions, HEED_SEARCH_OPTIONS)

Prompt prompt_of(const heed_prompt& prompt) {
  if (prompt.text.data) return std::string(text_of(prompt.text, "the text of a prompt"));
  require_pointer(prompt.tokens, "a prompt has neither a text nor tokens: tokens");
  const auto tokens = span_of(prompt.tokens, prompt.token_count, "the tokens of a prompt");
  return std::vector<int32_t>(tokens.begin(), tokens.end());
}

GenerateOptions generate_options(const heed_generate_options& from) {
  GenerateOptions options = options_of(from);
  for (const heed_token_bias& bias : span_of(from.logit_bias, from.logit_bias_count, "logit_bias"))
    options.logit_bias.push_back({.token = bias.token, .bias = bias.bias});
  options.stop = texts_of(from.stop, from.stop_count, "stop");
  const auto end_tokens = span_of(from.end_tokens, from.end_token_count, "end_tokens");
  options.end_tokens.assign(end_tokens.begin(), end_tokens.end());
  if (from.structured_output) {
    const heed_structured_output output = read_sized(from.structured_output, "structured_output");
    options.structured_output = options_of(output);
    options.structured_output.choice = texts_of(output.choice, output.choice_count, "choice");
  }
  return options;
}

SearchOptions search_options(const heed_search_options& from) { return options_of(from); }

namespace {

std::vector<Prompt> prompts_of(const heed_prompt* prompts, size_t count) {
  std::vector<Prompt> all;
  for (const heed_prompt& prompt : span_of(prompts, count, "prompts"))
    all.push_back(prompt_of(prompt));
  return all;
}

/// Generates one output. Throws StatusError when the callback ends it.
Generation stream(const Model& model, const Prompt& prompt, const GenerateOptions& options,
                  heed_on_text on_text, void* user_data) {
  Model::OnText forward;
  if (on_text)
    forward = [on_text, user_data](std::string_view text) {
      if (on_text(user_data, string_of(text)) != 0) fail_cancelled();
    };
  return model.generate(prompt, options, forward);
}

}  // namespace
}  // namespace heed::capi

using namespace heed::capi;

HEED_DEFINE_INIT(heed_generate_options)

HEED_DEFINE_INIT(heed_structured_output)

HEED_DEFINE_INIT(heed_search_options)

heed_status heed_generate(heed_model* model, const heed_prompt* prompts, size_t count,
                          const heed_generate_options* options, heed_generate_result** result,
                          heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    const heed::Model loaded = model_of(model);
    const heed_generate_options from = read_sized(options);
    auto outputs = std::make_shared<std::vector<StoredGeneration>>();
    for (heed::Generation& output : loaded.generate_batch(
             prompts_of(prompts, count), generate_options(from), from.first_number))
      outputs->emplace_back(std::move(output));
    set_handle(result, std::move(outputs));
  });
}

heed_status heed_generate_stream(heed_model* model, const heed_prompt* prompt,
                                 const heed_generate_options* options, heed_on_text on_text,
                                 void* user_data, heed_generate_result** result,
                                 heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    const heed::Model loaded = model_of(model);
    require_pointer(prompt, "prompt");
    auto outputs = std::make_shared<std::vector<StoredGeneration>>();
    outputs->emplace_back(stream(loaded, prompt_of(*prompt), generate_options(read_sized(options)),
                                 on_text, user_data));
    set_handle(result, std::move(outputs));
  });
}

heed_status heed_search(heed_model* model, const heed_prompt* prompts, size_t count,
                        const heed_search_options* options, const heed_generate_options* limits,
                        heed_search_result** result, heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    const heed::Model loaded = model_of(model);
    const heed_generate_options from = read_sized(limits, "limits");
    auto found = std::make_shared<std::vector<FoundCandidates>>();
    for (auto& candidates :
         loaded.search_batch(prompts_of(prompts, count), search_options(read_sized(options)),
                             generate_options(from), from.first_number))
      found->push_back({.source = {}, .candidates = stored(std::move(candidates))});
    set_handle(result, std::move(found));
  });
}
