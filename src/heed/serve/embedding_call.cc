#include "heed/serve/embedding_call.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "heed/serve/generation_call.h"

namespace heed::serve {
namespace {

/// The vectors of a call, which arrive one by one.
struct Vectors {
  std::shared_ptr<Call> call;
  OnEmbedded done;
  int64_t tokens = 0;
  std::vector<std::vector<float>> vectors = {};
  size_t missing = 0;
};

}  // namespace

std::vector<int32_t> tokens_to_embed(const Model& model, TokenizedText input, bool truncate,
                                     const std::string& path) {
  const int64_t limit = model.max_embedded_tokens();
  if (input.tokens.empty()) throw invalid_request(path, fmt::format("{} has no tokens", path));
  if (limit == 0 || std::ssize(input.tokens) < limit) return std::move(input.tokens);
  // As many tokens as there may be: what is left of a longer text, perhaps.
  const int64_t count =
      input.text ? model.count_tokens_to_embed(*input.text) : std::ssize(input.tokens);
  if (count > limit && !truncate) throw context_length_exceeded(path, count, limit);
  input.tokens.resize(static_cast<size_t>(limit));
  return std::move(input.tokens);
}

void scale_to_unit_length(std::vector<float>& vector) {
  double sum = 0;
  for (const float x : vector) sum += static_cast<double>(x) * static_cast<double>(x);
  const auto scale = static_cast<float>(sum > 0 ? 1 / std::sqrt(sum) : 1);
  for (float& x : vector) x *= scale;
}

void shorten(std::vector<float>& vector, size_t dimensions) {
  if (dimensions >= vector.size()) return;
  vector.resize(dimensions);
  scale_to_unit_length(vector);
}

void embed(const ModelCall& call, const std::vector<std::string>& texts, bool truncate,
           const std::string& field, OnEmbedded done) {
  const Model& model = call.model();
  require_task(call.target, call.target.tasks.embed, "embed");
  auto state = std::make_shared<Vectors>(Vectors{.call = call.call, .done = std::move(done)});
  std::vector<std::vector<int32_t>> tokens;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string path = fmt::format("{}[{}]", field, i);
    if (!truncate) refuse_overlong_text(model, texts[i], path);
    tokens.push_back(
        tokens_to_embed(model, {model.tokens_to_embed(texts[i]), texts[i]}, truncate, path));
    state->tokens += std::ssize(tokens.back());
  }
  state->vectors.resize(texts.size());
  state->missing = texts.size();
  call.call->enqueue(call.services.admission, state->tokens);
  call.target.model->embed(call.call, std::move(tokens),
                           [state](size_t number, std::vector<float> vector) {
                             state->vectors[number] = std::move(vector);
                             if (--state->missing == 0)
                               state->done(*state->call, std::move(state->vectors), state->tokens);
                           });
}

}  // namespace heed::serve
