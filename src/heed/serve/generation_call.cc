#include "heed/serve/generation_call.h"

#include <chrono>
#include <numeric>
#include <utility>

#include "heed/base/quote.h"
#include "heed/serve/fields/sampling_fields.h"

namespace heed::serve {

GenerationCall::GenerationCall(const ModelCall& call)
    : call_(call.call),
      admission_(call.services.admission),
      target_(call.target),
      created_(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())) {}

void GenerationCall::enqueue(const std::vector<int64_t>& tokens, const std::string& param,
                             int64_t output) {
  const int64_t context = model().context_length();
  const int64_t limit = model().has_encoder() ? context : context - output;
  for (const int64_t count : tokens)
    if (context > 0 && count > limit) throw context_length_exceeded(param, count, context);
  prompt_tokens_ = std::accumulate(tokens.begin(), tokens.end(), int64_t{0});
  call_->enqueue(admission_, prompt_tokens_);
}

void GenerationCall::start(std::vector<Request> requests, const std::vector<int64_t>& tokens,
                           const std::string& param) {
  enqueue(tokens, param);
  add(std::move(requests), tokens);
}

void GenerationCall::add(std::vector<Request> requests, const std::vector<int64_t>& tokens) {
  running_ = requests.size();
  call_->on_accepted([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->on_accepted();
  });
  if (samples(requests.front().options)) seed_ = requests.front().options.seed;
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].adapters = target_.adapters;
    target_.model->generate(call_, std::move(requests[i]), tokens[i],
                            [self = shared_from_this(), i](const Delta& delta) {
                              self->on_delta(i, delta);
                              const bool ended = delta.generation || delta.candidates;
                              if (ended && --self->running_ == 0) self->on_end();
                              return true;
                            });
  }
}

std::string GenerationCall::id(const char* prefix) const {
  return fmt::format("{}-{}", prefix, call_->request().id);
}

Json GenerationCall::completion(const char* id_prefix, const char* object, Json choices) const {
  Json json = {{"id", id(id_prefix)},
               {"object", object},
               {"created", created_},
               {"model", target_.name},
               {"choices", std::move(choices)}};
  if (seed_) json["seed"] = *seed_;
  return json;
}

void GenerationCall::respond_with_usage(Json completion, int64_t completion_tokens) {
  completion["usage"] = usage_json(prompt_tokens_, completion_tokens);
  call_->respond_json(completion);
}

void GenerationCall::end_stream(const StreamFields& stream, Json chunk, int64_t completion_tokens) {
  if (stream.include_usage) {
    chunk["usage"] = usage_json(prompt_tokens_, completion_tokens);
    call_->send_json_event(chunk);
  }
  call_->send_event("[DONE]");
  call_->end_events();
}

Json usage_json(int64_t prompt_tokens) {
  return {{"prompt_tokens", prompt_tokens}, {"total_tokens", prompt_tokens}};
}

Json usage_json(int64_t prompt_tokens, int64_t completion_tokens) {
  return {{"prompt_tokens", prompt_tokens},
          {"completion_tokens", completion_tokens},
          {"total_tokens", prompt_tokens + completion_tokens}};
}

StreamFields read_stream(JsonFields& fields) {
  StreamFields stream{.stream = fields.boolean("stream").value_or(false)};
  if (fields.find("stream_options")) {
    JsonFields options = fields.inner("stream_options");
    stream.include_usage = options.boolean("include_usage").value_or(false);
    options.ignore({"include_obfuscation"});
    options.end();
  }
  return stream;
}

void require_task(const ModelRegistry::Target& target, bool can, const char* what) {
  if (can) return;
  throw invalid_request(
      "model", fmt::format("the model {} cannot {}; its tasks are {}", quoted(target.name), what,
                           fmt::join(task_names(target.tasks), ", ")));
}

}  // namespace heed::serve
