#include "heed/serve/embedding_call.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>

namespace heed::serve {
std::vector<int32_t> tokens_to_embed(const Model& model, TokenizedText input, bool truncate,
                                     const std::string& path) {
  const int64_t limit = model.max_embedded_tokens();
  if (input.tokens.empty()) throw invalid_request(path, fmt::format("{} has no tokens", path));
  if (limit == 0 || std::ssize(input.tokens) < limit) return std::move(input.tokens);
  // As many tokens as there may be: what is left of a longer text, perhaps.
  const int64_t count = input.text ? model.count_tokens_to_embed(*input.text, {.prompt = ""})
                                   : std::ssize(input.tokens);
  if (count > limit && !truncate) throw input_too_long(path, count, limit);
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

void embed(const ModelCall& call, std::vector<TokenizedText> input, bool truncate,
           const std::string& field, OnVector on_vector, OnEmbedded done) {
  std::vector<std::vector<int32_t>> texts;
  int64_t tokens = 0;
  for (size_t i = 0; i < input.size(); ++i) {
    texts.push_back(tokens_to_embed(call.model(), std::move(input[i]), truncate,
                                    fmt::format("{}[{}]", field, i)));
    tokens += std::ssize(texts.back());
  }
  call.call->enqueue(call.services.admission, tokens);
  call.target.model->embed(
      call.call, std::move(texts),
      [on_vector = std::move(on_vector), done = std::move(done), tokens,
       missing = std::make_shared<size_t>(input.size())](size_t number, std::vector<float> vector) {
        on_vector(number, std::move(vector));
        if (--*missing == 0) done(tokens);
      });
}

std::vector<TokenizedText> read_to_embed(const Model& model, const std::vector<std::string>& texts,
                                         const std::string& prompt, bool truncate,
                                         const std::string& field) {
  std::vector<TokenizedText> input;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!truncate) refuse_overlong_text(model, texts[i], fmt::format("{}[{}]", field, i));
    input.push_back({model.tokens_to_embed(texts[i], {.prompt = prompt}), prompt + texts[i]});
  }
  return input;
}

void embed_and_respond(const ModelCall& call, std::vector<TokenizedText> input, bool truncate,
                       const std::string& field, JsonOfVectors json_of) {
  const auto vectors = std::make_shared<std::vector<std::vector<float>>>(input.size());
  embed(
      call, std::move(input), truncate, field,
      [vectors](size_t number, std::vector<float> vector) {
        (*vectors)[number] = std::move(vector);
      },
      [vectors, answered = call.call, json_of = std::move(json_of)](int64_t tokens) {
        answered->respond_json(json_of(*vectors, tokens));
      });
}

}  // namespace heed::serve
