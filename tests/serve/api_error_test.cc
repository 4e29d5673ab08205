// Errors of the client and of the server.
#include "heed/serve/api_error.h"

#include <limits>

#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

template <typename Exception>
ApiError error_for(const Exception& exception) {
  try {
    throw exception;
  } catch (...) {
    return current_error();
  }
}

TEST(ApiErrors, AreThoseOfTheClientOnlyIfItsInputIsWrong) {
  const ApiError wrong = error_for(InputError("the text is wrong"));
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.type, "invalid_request_error");
  const ApiError damaged = error_for(Error("the model is damaged"));
  EXPECT_EQ(damaged.status, 500);
  EXPECT_EQ(damaged.type, "server_error");
  EXPECT_STREQ(damaged.what(), "the model is damaged");
  EXPECT_EQ(error_for(std::bad_alloc()).status, 503);
  EXPECT_EQ(error_for(std::runtime_error("other")).status, 500);
}

/// Puts a NaN into a weight of a model directory.
void damage(const std::filesystem::path& folder, const std::string& weight) {
  const std::filesystem::path file = folder / "model.safetensors";
  std::vector<io::NamedTensor> tensors;
  {
    const auto weights = io::SafetensorsFile::open(file);
    for (const std::string& name : weights->names()) {
      Tensor tensor = weights->get(name).clone();
      if (name == weight) tensor.data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
      tensors.emplace_back(name, std::move(tensor));
    }
  }
  std::filesystem::remove(file);
  io::write_safetensors(file, tensors, {});
}

TEST(ApiErrors, OfADamagedModelAre500OnEveryRoute) {
  const TemporaryDirectory folder;
  const auto damaged = [&](const char* name, const std::filesystem::path& model,
                           const std::string& weight) {
    std::filesystem::copy(model, folder / name);
    damage(folder / name, weight);
    return ModelSource{.name = name, .path = (folder / name).string()};
  };
  const engine::SmallModels& small = engine::models();
  ServerOptions options{.port = 0};
  options.models = {
      damaged("lm", small.decoder(), "model.norm.weight"),
      damaged("encoder", small.encoder(), "embeddings.LayerNorm.weight"),
      damaged("masked", small.masked(), "bert.embeddings.LayerNorm.weight"),
      damaged("en-de", small.translator(), "final_logits_bias"),
      damaged("reranker", RunningServer::golden("encoders/rerank"), "classifier.out_proj.weight")};
  Server server(options);
  server.listen();
  server.load();
  const auto status_of = [&](const char* path, const Json& body) {
    return HttpClient(server.port()).request("POST", path, body.dump());
  };
  const std::vector<std::pair<const char*, Json>> requests = {
      {"/v1/completions", {{"model", "lm"}, {"prompt", "the sea"}}},
      {"/v1/completions",
       {{"model", "lm"}, {"prompt", "the sea"}, {"echo", true}, {"logprobs", 1}}},
      {"/v1/score", {{"model", "lm"}, {"text", "the sea"}}},
      {"/v1/embeddings", {{"model", "encoder"}, {"input", "the sea"}}},
      {"/v1/fill", {{"model", "masked"}, {"text", "the [MASK]"}}},
      {"/v1/translate", {{"model", "en-de"}, {"text", "the sea"}}},
      {"/v1/rerank", {{"model", "reranker"}, {"query", "a"}, {"documents", {"b"}}}}};
  for (const auto& [path, body] : requests) {
    const Answer answer = status_of(path, body);
    EXPECT_EQ(answer.status, 500) << path << ": " << answer.body;
    EXPECT_EQ(answer.json()["error"]["type"], "server_error") << answer.body;
  }
}

TEST(ApiErrors, OfWhatOnlyTheModelCanRefuseAre400) {
  const std::vector<std::pair<const char*, Json>> requests = {
      {"/v1/score", {{"model", "lm"}, {"text", ""}}},
      {"/v1/fill", {{"model", "masked"}, {"text", "no mask"}}},
      {"/v1/attention", {{"model", "lm"}, {"text", ""}}},
      {"/v1/attention", {{"model", "lm"}, {"text", "a"}, {"layer", 99}}},
      {"/v1/attention", {{"model", "lm"}, {"text", "a"}, {"kind", "cross"}}},
      {"/v1/attention", {{"model", "lm"}, {"text", "a"}, {"target", "b"}}},
      {"/v1/translate", {{"model", "en-de"}, {"text", "a"}, {"target_language", "fr"}}},
      {"/v1/translate", {{"model", "nllb"}, {"text", "a"}}},
      {"/v1/detokenize", {{"model", "lm"}, {"tokens", {99'999}}}}};
  for (const auto& [path, body] : requests) {
    const Answer answer = post(path, body);
    EXPECT_EQ(answer.status, 400) << path << ' ' << body << ": " << answer.body;
  }
}

}  // namespace
}  // namespace heed::serve
