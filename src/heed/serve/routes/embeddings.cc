// OpenAI's embeddings: https://platform.openai.com/docs/api-reference/embeddings
#include <bit>
#include <cmath>
#include <numeric>

#include "heed/base/base64.h"
#include "heed/base/json.h"
#include "heed/engine/loaded_model.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

/// The vectors of a call, which arrive one by one on the compute thread.
struct EmbeddingCall {
  std::shared_ptr<Call> call;
  std::string model;
  int64_t tokens = 0;
  bool base64 = false;
  size_t dimensions = 0;
  std::vector<std::string> vectors = {};  // as JSON
  size_t missing = 0;

  /// The first `dimensions` numbers, scaled to length 1 again if some are left out, as OpenAI does.
  void shorten(std::vector<float>& vector) const {
    if (dimensions >= vector.size()) return;
    vector.resize(dimensions);
    double sum = 0;
    for (const float x : vector) sum += static_cast<double>(x) * static_cast<double>(x);
    const auto scale = static_cast<float>(sum > 0 ? 1 / std::sqrt(sum) : 1);
    for (float& x : vector) x *= scale;
  }

  void add(size_t number, std::vector<float> vector) {
    shorten(vector);
    if (base64) {
      static_assert(std::endian::native == std::endian::little);
      vectors[number] = '"' +
                        encode_base64({reinterpret_cast<const char*>(vector.data()),
                                       vector.size() * sizeof(float)}) +
                        '"';
    } else {
      vectors[number] = dump_json(nlohmann::json(vector));
    }
    if (--missing == 0) respond();
  }

  void respond() const {
    std::string body = R"({"object":"list","data":[)";
    for (size_t i = 0; i < vectors.size(); ++i)
      body += fmt::format(R"({}{{"object":"embedding","index":{},"embedding":{}}})",
                          i == 0 ? "" : ",", i, vectors[i]);
    const Json usage = {{"prompt_tokens", tokens}, {"total_tokens", tokens}};
    body += fmt::format(R"(],"model":{},"usage":{}}})", dump_json(Json(model)), dump_json(usage));
    call->respond_json(std::move(body));
  }
};

/// Texts with more tokens would be truncated; 0: none would.
int64_t max_tokens_of(const Model& model) {
  const int64_t limit = engine::loaded(model).embedding.value().max_seq_length;
  return limit > 0 ? limit : model.context_length();
}

}  // namespace

void post_embeddings(const ModelCall& call) {
  const Model& model = call.target.model->model();
  require_task(call.target, call.target.tasks.embed, "embed");
  JsonFields fields(call.body);
  fields.ignore({"model", "user"});
  std::vector<std::string> texts = read_texts(fields, "input");
  auto state = std::make_shared<EmbeddingCall>();
  state->call = call.call;
  state->model = call.target.name;
  state->base64 = fields.one_of("encoding_format", {"float", "base64"}) == "base64";
  state->dimensions = static_cast<size_t>(
      fields.integer("dimensions", 1, model.embedding_size()).value_or(model.embedding_size()));
  const bool truncate = fields.boolean("truncate").value_or(false);
  fields.refuse_others();

  std::vector<int64_t> tokens;
  const int64_t limit = max_tokens_of(model);
  for (size_t i = 0; i < texts.size(); ++i) {
    tokens.push_back(std::ssize(model.tokenize(texts[i])));
    if (tokens.back() == 0)
      throw invalid_request(fmt::format("input[{}]", i), fmt::format("input[{}] has no tokens", i));
    if (limit > 0 && tokens.back() > limit && !truncate)
      throw context_length_exceeded(fmt::format("input[{}]", i), tokens.back(), limit);
  }
  state->tokens = std::accumulate(tokens.begin(), tokens.end(), int64_t{0});
  state->vectors.resize(texts.size());
  state->missing = texts.size();
  call.call->enqueue(call.services.admission, state->tokens);
  call.target.model->embed(
      call.call, std::move(texts), tokens,
      [state](size_t number, std::vector<float> vector) { state->add(number, std::move(vector)); });
}

}  // namespace heed::serve
