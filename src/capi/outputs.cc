#include "capi/outputs.h"

#include "capi/sized.h"

namespace heed::capi {
namespace {

heed_token_log_probability view_of(const TokenLogProbability& of) {
  return {.token = of.token, .log_probability = of.log_probability};
}

}  // namespace

StoredGeneration::StoredGeneration(Generation generation) : generation_(std::move(generation)) {
  for (const TokenLogProbability& chosen : generation_.chosen) chosen_.push_back(view_of(chosen));
  if (!chosen_.empty()) best_offsets_.push_back(0);
  for (const auto& best : generation_.best) {
    for (const TokenLogProbability& candidate : best) best_.push_back(view_of(candidate));
    best_offsets_.push_back(best_.size());
  }
}

heed_generation StoredGeneration::view() const {
  heed_generation view{};
  view.struct_size = sizeof(view);
  view.text = string_of(generation_.text);
  view.tokens = generation_.tokens.data();
  view.token_count = generation_.tokens.size();
  view.finish_reason =
      generation_.finish_reason == FinishReason::stop ? HEED_FINISH_STOP : HEED_FINISH_LENGTH;
  if (generation_.stop_string) view.stop_string = string_of(*generation_.stop_string);
  view.drafted_tokens = generation_.drafted_tokens;
  view.accepted_tokens = generation_.accepted_tokens;
  if (chosen_.empty()) return view;
  view.chosen = chosen_.data();
  view.best = best_.data();
  view.best_offsets = best_offsets_.data();
  return view;
}

StoredCandidate::StoredCandidate(Candidate candidate) : candidate_(std::move(candidate)) {
  for (const AlignedWords& words : candidate_.alignment)
    alignment_.push_back({.source = words.source, .target = words.target});
  for (const WordConfidence& word : candidate_.words)
    words_.push_back({.text = string_of(word.text), .confidence = word.confidence});
}

heed_candidate StoredCandidate::view() const {
  const Hypothesis& hypothesis = candidate_.hypothesis;
  return {.struct_size = sizeof(heed_candidate),
          .text = string_of(candidate_.text),
          .tokens = hypothesis.tokens.data(),
          .token_count = hypothesis.tokens.size(),
          .log_probability = hypothesis.log_probability,
          .score = hypothesis.score,
          .alignment = alignment_.data(),
          .alignment_count = alignment_.size()};
}

heed_confidence StoredCandidate::confidence() const {
  return {.confidence = candidate_.confidence.value(),
          .words = words_.data(),
          .word_count = words_.size()};
}

std::vector<StoredCandidate> stored(std::vector<Candidate> candidates) {
  std::vector<StoredCandidate> all;
  for (Candidate& candidate : candidates) all.emplace_back(std::move(candidate));
  return all;
}

StoredAnswer::StoredAnswer(ChatAnswer answer) : answer_(std::move(answer)) {
  for (const ToolCall& call : answer_.tool_calls)
    tool_calls_.push_back({.id = string_of(call.id),
                           .name = string_of(call.name),
                           .arguments = string_of(call.arguments)});
}

heed_chat_answer StoredAnswer::view() const {
  return {.struct_size = sizeof(heed_chat_answer),
          .content = string_of(answer_.content),
          .reasoning_content = string_of(answer_.reasoning_content),
          .tool_calls = tool_calls_.data(),
          .tool_call_count = tool_calls_.size(),
          .malformed_tool_call = answer_.malformed_tool_call};
}

}  // namespace heed::capi

using namespace heed::capi;

HEED_DEFINE_COUNT(heed_generate_result)

heed_status heed_generate_result_get(heed_generate_result* result, size_t index,
                                     heed_generation* generation, heed_error* error) {
  return run(error, [&] {
    write_sized(generation, element(*object_of(result), index).view(), "generation");
  });
}

HEED_DEFINE_FREE(heed_generate_result)

HEED_DEFINE_COUNT(heed_search_result)

heed_status heed_search_result_candidates(heed_search_result* result, size_t input, size_t* count,
                                          heed_error* error) {
  return run(error, [&] {
    write_value(count, element(*object_of(result), input, "input").candidates.size(), "count");
  });
}

heed_status heed_search_result_get(heed_search_result* result, size_t input, size_t index,
                                   heed_candidate* candidate, heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(result);
    const FoundCandidates& found = element(*object, input, "input");
    write_sized(candidate, element(found.candidates, index).view(), "candidate");
  });
}

heed_status heed_search_result_confidence(heed_search_result* result, size_t input, size_t index,
                                          heed_confidence* confidence, heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(result);
    const StoredCandidate& found = element(element(*object, input, "input").candidates, index);
    require_argument(found.has_confidence(), "confidence was not asked for");
    write_value(confidence, found.confidence(), "confidence");
  });
}

heed_status heed_search_result_source(heed_search_result* result, size_t input,
                                      const int32_t** tokens, size_t* count, heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(result);
    require_pointer(tokens, "tokens");
    require_pointer(count, "count");
    const std::vector<int32_t>& source = element(*object, input, "input").source;
    *tokens = source.data();
    *count = source.size();
  });
}

HEED_DEFINE_FREE(heed_search_result)

heed_status heed_chat_result_answer(heed_chat_result* result, heed_chat_answer* answer,
                                    heed_error* error) {
  return run(error, [&] { write_sized(answer, object_of(result)->answer.view(), "answer"); });
}

heed_status heed_chat_result_generation(heed_chat_result* result, heed_generation* generation,
                                        heed_error* error) {
  return run(error,
             [&] { write_sized(generation, object_of(result)->generation.view(), "generation"); });
}

HEED_DEFINE_FREE(heed_chat_result)
